"""Cards of the mind's rhythm: the clock, sleep and dreams, and what may wake it between ticks."""

from __future__ import annotations

from typing import ClassVar

from core.report.event_words import dream_sentence
from core.report.formatting import clock, count, fraction, short, span
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, gauge, heading, pair, sentence_lines


class ClockCard(Card):
    """The three rhythms and when each ticks next."""

    TITLE: ClassVar[str] = "Clock"
    TALL: ClassVar[tuple[int, int]] = (9, 18)
    HELP: ClassVar[str] = """\
## Clock

The mind ticks in work time, not wall time: gamma perceives, theta thinks, delta consolidates.
Each bar fills towards the next tick. The intervals adapt to how surprising the work is,
and a budget that runs low slows them all.
"""

    def said(self, view: View, width: int) -> list[Line]:
        beat = view.frame.mind.clock
        made: list[Line] = []
        for name, ticks, left, interval, ink in (
            ("gamma", beat.gamma, beat.gamma_in, beat.gamma_interval, "seeking"),
            ("theta", beat.theta, beat.theta_in, beat.theta_interval, "flow"),
        ):
            done = 1.0 - left / interval if interval else 0.0
            made.append(gauge(name, done, width, f"{left:.0f}s", ink=ink))
            made.append([(fit(f"  {count(ticks, 'tick')}, one every {interval:.0f}s", width), "quiet")])
        every = max(beat.delta_in, _delta_every(view))
        made.append(gauge("delta", 1.0 - beat.delta_in / every, width, "", ink="fatigue"))
        left_words = f"  {count(beat.delta, 'tick')}, next in {count(beat.delta_in, 'theta tick')}"
        made.append([(fit(left_words, width), "quiet")])
        return [*made, *(line for note in self._notes(view) for line in sentence_lines(note, width))]

    def _notes(self, view: View) -> list[str]:
        beat, last = view.frame.mind.clock, view.frame.mind.last_tick
        notes = []
        if last is not None:
            notes.append(f"last tick {last.kind.replace('_', ' ')} at {clock(last.at - view.start)}")
        if beat.slowed != 1.0:
            notes.append(f"slowed {beat.slowed:.1f}x by the budget")
        if beat.violations:
            notes.append(f"quickened by {count(beat.violations, 'surprise')}")
        if beat.dropped:
            notes.append(f"{count(beat.dropped, 'tick')} left out in long silences")
        return notes

    def more(self, view: View, width: int) -> list[Line]:
        last = view.frame.mind.last_tick
        if last is None:
            return self.said(view, width)
        return [
            *self.said(view, width),
            [],
            heading("work of the last tick"),
            pair("outcomes forecast", str(last.predict_work), width),
            pair("events appraised", str(last.appraise_work), width),
            pair("turns placed in a tier", str(last.gate_work), width),
            pair("past episodes compared", str(last.retrieve_work), width),
            pair("rules or episodes looked over", str(last.reflect_work), width),
            pair("the model took", span(last.deliberate_seconds), width),
            pair("the tools took", span(last.act_seconds), width),
            pair("tokens", short(last.tokens_used), width),
        ]


def _delta_every(view: View) -> int:
    """Theta ticks from one delta tick to the next, as far as the counts tell."""
    beat = view.frame.mind.clock
    return max(1, round((beat.theta + beat.delta_in) / (beat.delta + 1)))


class SleepCard(Card):
    """Sleep pressure, the context that drives it, and the dreams so far."""

    TITLE: ClassVar[str] = "Sleep and dreams"
    TALL: ClassVar[tuple[int, int]] = (12, 14)
    HELP: ClassVar[str] = """\
## Sleep and dreams

Pressure to consolidate rises with every theta tick, faster with a full context.
A dream compresses episodes, drops stale items and resets what counts as usual.
The agent's own compaction always brings one.
"""

    def said(self, view: View, width: int) -> list[Line]:
        sleep = view.frame.mind.sleep
        made = [
            gauge("pressure", sleep.pressure, width, f"{100 * sleep.pressure:.0f}%", ink="fatigue"),
            *(self.past(view, "sleep", width) if self.rich else []),
            *self._filled(view, width),
            pair("accumulated", f"{sleep.accumulator:.2f} of {sleep.threshold:.2f}", width),
        ]
        if sleep.compaction_point and sleep.context_tokens:
            filled = f"{short(sleep.context_tokens)} of {short(sleep.compaction_point)}"
            made.append(pair("to compaction", filled, width))
        if sleep.turns_to_compaction is not None:
            made.append(pair("compaction in", f"~{count(sleep.turns_to_compaction, 'turn')}", width))
        if sleep.dream_ticks is not None:
            made.append(pair("dream in", f"~{count(sleep.dream_ticks, 'theta tick')}", width))
        made.append(pair("compactions", str(sleep.compactions), width))
        return [*made, *self._dreams(view, width, 16 if self.rich else 3)]

    def _filled(self, view: View, width: int) -> list[Line]:
        sleep = view.frame.mind.sleep
        if not sleep.context_tokens:
            unknown = "not in this log" if "tokens" in view.subject.untold else "not told so far"
            return [pair("context", "just compacted" if sleep.compactions else unknown, width)]
        made = [gauge("context", sleep.context, width, f"{100 * sleep.context:.0f}%", ink="heat-3")]
        return [*made, *(self.past(view, "context", width) if self.rich else [])]

    def _dreams(self, view: View, width: int, most: int) -> list[Line]:
        mind = view.frame.mind
        made: list[Line] = [[], [("dreams ", "strong"), (f"{mind.dream_count}", "quiet")]]
        for dream in reversed(mind.dreams[-most:]):
            when = clock(dream.at - view.start)
            words = f"{dream.reason}, {dream.compressed} summed up, {dream.expired + dream.forgotten} dropped"
            made.append([(f"◦ {when} ", "fatigue"), (fit(words, max(1, width - 3 - len(when))), "plain")])
        if mind.dreams and self.rich:
            made += sentence_lines(dream_sentence(mind.dreams[-1]), width)
        return made


class WakeupCard(Card):
    """What may wake the mind between ticks, and when it last did."""

    TITLE: ClassVar[str] = "Wakeups"
    TALL: ClassVar[tuple[int, int]] = (9, 16)
    HELP: ClassVar[str] = """\
## Wakeups

Triggers that make the mind tick at once: a message from you, a tripwire, a burst of failures and the like.
Each has a least strength and a time within which it does not fire again.
"""

    def said(self, view: View, width: int) -> list[Line]:
        mind = view.frame.mind
        made: list[Line] = []
        for trigger in mind.triggers:
            at = "never" if trigger.fired_at is None else clock(trigger.fired_at - view.start)
            times = f"x{trigger.fired}" if trigger.fired else ""
            sign = "●" if trigger.fired else "○"
            name = trigger.name.replace("_", " ")
            room = max(6, width - 2 - 6 - 9)
            made.append(
                [
                    (f"{sign} ", "live" if trigger.fired else "quiet"),
                    (fit(name, room), "plain" if trigger.fired else "quiet"),
                    (times.rjust(6), "strong"),
                    (at.rjust(9), "quiet"),
                ]
            )
        made.append([(fit(f"{mind.deduplicated} left to a tick that was due", width), "quiet")])
        return made

    def more(self, view: View, width: int) -> list[Line]:
        made = [*self.said(view, width), [], heading("limits")]
        for trigger in view.frame.mind.triggers:
            words = f"wakes {trigger.resolution} from {fraction(trigger.least)}, not again in "
            made.append(pair(trigger.name.replace("_", " "), words + span(trigger.refire), width, at=20))
        return made
