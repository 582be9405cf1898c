"""Cards of the Mind tab: state, habits and balance, clock, sleep and wakeups, episodes and spending."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from core.engine.mind.episode import ACTION_WORDS, Border
from core.engine.mind.homeostasis import RuleState
from core.engine.percept import spell_name
from core.report.event_words import dream_sentence, episode_name, event_facts, event_name, task_words
from core.report.formatting import clock, count, fraction, money, plain, short, span
from tui.draw.line import TRACK, Line, fit, wrapped
from tui.feed.view import View
from tui.widgets.common.card import Card, gauge, heading, pair, sentence_lines, signed

_TREND = {-1: "▼", 0: " ", 1: "▲"}


class CorticalCard(Card):
    """Mood, accuracy, vitality, regime, budget and tier in one place."""

    TITLE: ClassVar[str] = "Cortical state"
    TALL: ClassVar[tuple[int, int]] = (14, 33)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        mind = view.frame.mind
        story = view.frame.story
        state, mood, forecast = mind.cortical, mind.mood, mind.forecast
        label = fit("emotion", 13 if width >= 34 else 10)
        yield [(label, "quiet"), (state.emotion, "strong"), (f"  {100 * mood.intensity:.0f}%", "quiet")]
        yield signed("pleasure", mood.pleasure, width, f"{mood.pleasure:+.2f}")
        yield signed("arousal", mood.arousal, width, f"{mood.arousal:+.2f}")
        yield signed("dominance", mood.dominance, width, f"{mood.dominance:+.2f}")
        trend, vital = _TREND[max(-1, min(1, state.trend))], mind.vitality.composite
        yield gauge("accuracy", state.accuracy, width, f"{fraction(state.accuracy)} {trend}", ink="uncertainty")
        yield gauge("vitality", vital, width, fraction(vital), ink="confidence", limit=mind.vitality.next_bound or None)
        yield gauge("budget left", state.budget_remaining, width, f"{100 * state.budget_remaining:.0f}%")
        yield pair("skill", f"{forecast.skill:+.2f} over {count(forecast.scored, 'call')}", width)
        yield pair("next call may fail", f"{100 * forecast.next_failure:.0f}%", width)
        yield pair("phase", story.phase, width, ink="alert" if state.phase == "terminal" else "plain")
        yield self._regime(view, width)
        yield pair("tier", state.tier, width)

    def _behaviour(self, view: View, width: int) -> Iterator[Line]:
        """The pattern of the last minutes, what changed, and what is usual."""
        behaviour = view.frame.receptor.behaviour
        yield pair("last 5 minutes", spell_name(behaviour.short.pattern), width)
        yield pair("last half hour", spell_name(behaviour.medium.pattern), width)
        if behaviour.meaning:
            yield from sentence_lines(behaviour.meaning, width)
        usual = sorted(behaviour.usual, key=lambda one: -one[1])[:3]
        if usual:
            words = ", ".join(f"{spell_name(name)} {share:.0%}" for name, share in usual)
            yield pair("usual in earlier sessions", words, width)

    def _regime(self, view: View, width: int) -> Line:
        regime = view.frame.mind.regime
        words: str = view.frame.story.regime
        if regime.candidate not in (regime.regime, words) and regime.needed:
            words += f" → {regime.candidate}? {100 * min(1.0, regime.lasting / regime.needed):.0f}%"
        return pair("regime", words, width, ink="alert" if words.startswith("crisis") else "plain")

    def more(self, view: View, width: int) -> list[Line]:
        mind = view.frame.mind
        mood = mind.mood
        curves: list[Line] = []
        for name, low in (("pleasure", -1.0), ("arousal", -1.0), ("dominance", -1.0), ("accuracy", 0.0)):
            curves += self.past(view, name, width, low=low, label=name)
        outcome = "failed" if mind.forecast.last_failed else "did not"
        last_call = f"{100 * mind.forecast.last_expected:.0f}% to fail, {outcome}"
        return [
            *self.brief(view, width),
            *([[], heading("so far"), *curves] if curves else []),
            [],
            heading("behaviour"),
            *self._behaviour(view, width),
            [],
            heading("where the mood is heading"),
            signed("pleasure", mood.pleasure_target, width, f"{mood.pleasure_target:+.2f}"),
            signed("arousal", mood.arousal_target, width, f"{mood.arousal_target:+.2f}"),
            signed("dominance", mood.dominance_target, width, f"{mood.dominance_target:+.2f}"),
            pair("events per minute", f"{mood.rate:.1f}", width),
            pair("own edits that succeeded", f"{100 * mood.chosen_share:.0f}%", width),
            [],
            heading("vitality and forecast"),
            gauge("economic", mind.vitality.economic, width, fraction(mind.vitality.economic)),
            gauge("epistemic", mind.vitality.epistemic, width, fraction(mind.vitality.epistemic)),
            pair("phase lost below", fraction(mind.vitality.next_bound), width),
            pair("Brier score", f"{mind.forecast.brier:.3f}", width),
            pair("last call", last_call, width),
        ]


class HabituationCard(Card):
    """The most familiar patterns."""

    TITLE: ClassVar[str] = "Habituation"
    TALL: ClassVar[tuple[int, int]] = (8, 8)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        habits = view.frame.mind.habituation
        if not habits.familiar:
            yield [("nothing has happened twice yet", "quiet")]
            return
        room = max(8, width // 2)
        for exposure in habits.familiar[: 200 if self.rich else 8]:
            name = fit(plain(exposure.what, room), room)
            bar = max(3, width - room - 12)
            lit = round(exposure.attenuation * bar)
            filled: Line = [("▄" * lit, "seeking"), (TRACK * (bar - lit), "track")]
            figures: Line = [
                (f" {fraction(exposure.attenuation):>4}", "plain"),
                (f" x{exposure.exposures:<4.0f}", "quiet"),
            ]
            yield [(name + " ", "plain"), *filled, *figures]
        yield [(fit(f"{habits.patterns:,} patterns known", width), "quiet")]


class HomeostasisCard(Card):
    """Three rules that correct signals which stray from their average."""

    TITLE: ClassVar[str] = "Homeostasis"
    TALL: ClassVar[tuple[int, int]] = (11, 11)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        home = view.frame.mind.homeostasis
        for rule in home.rules:
            yield from self._rule(rule, width)
        yield pair("tool trust", f"{home.tool_trust:.2f}", width)
        yield pair("tier bias", f"{home.tier_bias:+.2f}", width)
        yield pair("dreams", "intensive" if home.intensive else "standard", width)
        if home.held:
            yield from sentence_lines(f"held: {', '.join(home.held)}", width)

    def _rule(self, rule: RuleState, width: int) -> list[Line]:
        reach = max(2.0 * rule.threshold, 1.1 * abs(rule.deviation), 1e-9)
        strays = rule.straying >= rule.persistence > 0
        away, ink = abs(rule.deviation) / reach, "frustration" if strays else "heat-2"
        line = gauge(rule.signal, away, width, f"{rule.deviation:+.2f}", ink=ink, limit=rule.threshold / reach)
        average = "no average yet" if rule.average is None else f"about {rule.average:.2f}"
        state = f"out of bounds for {rule.straying} of {rule.persistence} ticks" if rule.straying else "steady"
        if strays and rule.correction:
            state = f"{rule.knob.replace('_', ' ')} {rule.correction:+.2f}"
        return [line, [(fit(f"  {average}, {state}", width), "alert" if strays else "quiet")]]


class ClockCard(Card):
    """The three rhythms and when each ticks next."""

    TITLE: ClassVar[str] = "Clock"
    TALL: ClassVar[tuple[int, int]] = (9, 18)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        beat = view.frame.mind.clock
        for name, ticks, left, interval, ink in (
            ("gamma", beat.gamma, beat.gamma_in, beat.gamma_interval, "seeking"),
            ("theta", beat.theta, beat.theta_in, beat.theta_interval, "flow"),
        ):
            done = 1.0 - left / interval if interval else 0.0
            yield gauge(name, done, width, f"{left:.0f}s", ink=ink)
            yield [(fit(f"  {count(ticks, 'tick')}, one every {interval:.0f}s", width), "quiet")]
        every = max(beat.delta_in, _delta_every(view))
        yield gauge("delta", 1.0 - beat.delta_in / every, width, "", ink="fatigue")
        left_words = f"  {count(beat.delta, 'tick')}, next in {count(beat.delta_in, 'theta tick')}"
        yield [(fit(left_words, width), "quiet")]
        yield from (line for note in self._notes(view) for line in sentence_lines(note, width))

    def _notes(self, view: View) -> Iterator[str]:
        beat, last = view.frame.mind.clock, view.frame.mind.last_tick
        if last is not None:
            yield f"last tick {last.kind.replace('_', ' ')} at {clock(last.at - view.start)}"
        if beat.slowed != 1.0:
            yield f"slowed {beat.slowed:.1f}x by the budget"
        if beat.violations:
            yield f"quickened by {count(beat.violations, 'surprise')}"
        if beat.dropped:
            yield f"{count(beat.dropped, 'tick')} left out in long silences"


class HeartbeatCard(Card):
    """The nine steps of the last tick, and what the mechanisms did in each."""

    TITLE: ClassVar[str] = "Heartbeat"
    TALL: ClassVar[tuple[int, int]] = (11, 14)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        last = view.frame.mind.last_tick
        if last is None:
            yield [("no tick so far", "quiet")]
            return
        head = f"{last.kind.replace('_', ' ')} tick {last.tick:,} at {clock(last.at - view.start)}"
        yield [(fit(head, width), "strong")]
        for number, (step, did) in enumerate(view.frame.mind.heartbeat, 1):
            first, *others = wrapped(did, max(8, width - 13))
            yield [(f"{number} {step:<11}", "quiet"), (first if self.rich else fit(did, width - 13), "plain")]
            yield from ([(" " * 13 + line, "plain")] for line in others if self.rich)


def _delta_every(view: View) -> int:
    """Theta ticks from one delta tick to the next, as far as the counts show."""
    beat = view.frame.mind.clock
    return max(1, round((beat.theta + beat.delta_in) / (beat.delta + 1)))


class SleepCard(Card):
    """Sleep pressure, the context that drives it, and the dreams so far."""

    TITLE: ClassVar[str] = "Sleep and dreams"
    TALL: ClassVar[tuple[int, int]] = (12, 14)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        sleep = view.frame.mind.sleep
        yield gauge("pressure", sleep.pressure, width, f"{100 * sleep.pressure:.0f}%", ink="fatigue")
        if self.rich:
            yield from self.past(view, "sleep", width)
        yield from self._filled_lines(view, width)
        yield pair("accumulated", f"{sleep.accumulator:.2f} of {sleep.threshold:.2f}", width)
        if sleep.compaction_point and sleep.context_tokens:
            filled = f"{short(sleep.context_tokens)} of {short(sleep.compaction_point)}"
            yield pair("to compaction", filled, width)
        if sleep.turns_to_compaction is not None:
            yield pair("compaction in", f"~{count(sleep.turns_to_compaction, 'turn')}", width)
        if sleep.dream_ticks is not None:
            yield pair("dream in", f"~{count(sleep.dream_ticks, 'theta tick')}", width)
        yield pair("compactions", str(sleep.compactions), width)
        yield from self._dreams(view, width, 16 if self.rich else 3)

    def _filled_lines(self, view: View, width: int) -> Iterator[Line]:
        sleep = view.frame.mind.sleep
        if not sleep.context_tokens:
            unknown = "not in this log" if "tokens" in view.subject.untold else "not reported yet"
            yield pair("context", "just compacted" if sleep.compactions else unknown, width)
            return
        yield gauge("context", sleep.context, width, f"{100 * sleep.context:.0f}%", ink="heat-3")
        if self.rich:
            yield from self.past(view, "context", width)

    def _dreams(self, view: View, width: int, most: int) -> Iterator[Line]:
        mind = view.frame.mind
        yield []
        yield [("dreams ", "strong"), (f"{mind.dream_count}", "quiet")]
        for dream in reversed(mind.dreams[-most:]):
            when = clock(dream.at - view.start)
            words = f"{dream.reason}, {dream.compressed} summed up, {dream.expired + dream.forgotten} dropped"
            yield [(f"◦ {when} ", "fatigue"), (fit(words, max(1, width - 3 - len(when))), "plain")]
        if mind.dreams and self.rich:
            yield from sentence_lines(dream_sentence(mind.dreams[-1]), width)


class WakeupCard(Card):
    """The triggers that wake the mind between ticks, and when each last did."""

    TITLE: ClassVar[str] = "Wakeups"
    TALL: ClassVar[tuple[int, int]] = (9, 16)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        mind = view.frame.mind
        for trigger in mind.triggers:
            at = "never" if trigger.fired_at is None else clock(trigger.fired_at - view.start)
            times = f"x{trigger.fired}" if trigger.fired else ""
            sign = ("● ", "live") if trigger.fired else ("○ ", "quiet")
            name = fit(spell_name(trigger.name), max(6, width - 2 - 6 - 9))
            ink = "plain" if trigger.fired else "quiet"
            yield [sign, (name, ink), (times.rjust(6), "strong"), (at.rjust(9), "quiet")]
        yield [(fit(f"{mind.deduplicated} deferred", width), "quiet")]

    def more(self, view: View, width: int) -> Iterator[Line]:
        yield from self.brief(view, width)
        yield []
        yield heading("limits")
        for trigger in view.frame.mind.triggers:
            words = f"wakes {trigger.resolution} from {fraction(trigger.least)}, not again in "
            yield pair(spell_name(trigger.name), words + span(trigger.refire), width, at=20)


_VERDICTS = {"gain": ("▲ gain", "confidence"), "loss": ("▼ loss", "frustration"), "flat": ("─ flat", "quiet")}
_LETTERS = {"+": "confidence", "-": "frustration", "0": "seeking", "!": "alert"}
_BORDERS: dict[Border, str] = {
    "start": "the start",
    "prompt": "a prompt",
    "interrupt": "an interrupt",
    "pattern": "a new pattern",
    "delta": "a delta tick",
    "session_end": "the end",
}
_BANDS = {
    "normal": "every tier may be used",
    "no_large": "the large tier is spent",
    "no_model": "both models are spent",
    "over": "spent until midnight UTC",
}


class EpisodeCard(Card):
    """The open stretch of work, and the last finished one."""

    TITLE: ClassVar[str] = "Episodes"
    TALL: ClassVar[tuple[int, int]] = (17, 20)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        episodes = view.frame.mind.episodes
        sign, ink = _VERDICTS[episodes.leaning]
        yield [("open", "strong"), ("  trending towards ", "quiet"), (sign, ink)]
        yield pair("began with", _BORDERS[episodes.began_by], width)
        yield pair("calls", f"{episodes.calls:,}", width)
        for name, times in episodes.task[: 12 if self.rich else 4]:
            yield pair(f"  {plain(task_words(name), max(8, width - 8))}", f"{times}", width)
        yield []
        yield from self._last(view, width)
        yield pair("kept", f"{episodes.kept} whole, {episodes.summaries} summed up", width)
        if episodes.remembered:
            yield pair("from earlier sessions", str(episodes.remembered), width)

    def more(self, view: View, width: int) -> Iterator[Line]:
        recalled = view.frame.mind.recalled
        yield from self.brief(view, width)
        yield []
        yield heading("similar episodes")
        if not recalled:
            yield from sentence_lines("no similar episode", width)
            return
        for line in recalled:
            yield from sentence_lines(plain(line), width, "plain")

    def _last(self, view: View, width: int) -> list[Line]:
        last = view.frame.mind.episodes.last
        if last is None:
            return [[("no episode has ended yet", "quiet")]]
        sign, ink = _VERDICTS[last.outcome]
        lines: list[Line] = [
            [(f"last, #{last.number}", "strong"), (f"  {clock(last.at - view.start)}  ", "quiet"), (sign, ink)],
            *sentence_lines(episode_name(last), width, "plain"),
            pair("lasted", span(max(0.0, last.until - last.at)), width),
            pair("ended by", _BORDERS[last.ended_by], width),
            pair("regime", last.regime, width),
            pair("mostly", ACTION_WORDS[last.action], width),
            pair("calls", f"{last.calls:,}, {last.failures} failed", width),
        ]
        pairs = [last.trace[place : place + 2] for place in range(0, len(last.trace), 2)][-max(1, (width - 6) // 3) :]
        trace = [(f"{letters} ", _LETTERS.get(letters[1:], "quiet")) for letters in pairs]
        return [*lines, [("trace ", "quiet"), *trace]] if pairs else lines


class TierCard(Card):
    """Which models did the work, what the day has cost, and what the budget still allows."""

    TITLE: ClassVar[str] = "Tiers and spend"
    TALL: ClassVar[tuple[int, int]] = (9, 13)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        tiers, opinion = view.frame.mind.tiers, view.frame.mind.opinion
        ink = "alert" if tiers.band != "normal" else "heat-3"
        model = plain(tiers.model, max(4, width - 4)) or "no model yet"
        yield [(fit(model, width - 3), "plain"), (f" {tiers.tier}", "strong")]
        yield gauge("used today", tiers.used, width, f"{100 * tiers.used:.0f}%", ink=ink)
        yield [(fit(f"  {_BANDS[tiers.band]}", width), "quiet")]
        for spend in tiers.spends:
            if spend.turns:
                priced = money(spend.money, spend.turns - spend.unpriced, spend.unpriced)
                turns = f"{spend.tier}  {count(spend.turns, 'turn')}"
                yield pair(turns, f"{_tokens(view, spend.tokens)}  {priced}", width)
        amount = money(tiers.total_money, tiers.total_priced, tiers.total_unpriced)
        whose = "session" if len(view.agents) == 1 else "this agent"
        yield pair(whose, f"{_tokens(view, tiers.total_tokens)}  {amount}", width)
        yield pair("tier for this moment", opinion.tier, width, ink="strong")
        if opinion.tier != opinion.wanted:
            yield from sentence_lines(f"{opinion.wanted} without the budget limit", width)
        if tiers.total_unpriced and tiers.total_priced:
            yield from sentence_lines(f"{count(tiers.total_unpriced, 'turn')} of unknown price", width)

    def more(self, view: View, width: int) -> list[Line]:
        opinion = view.frame.mind.opinion
        return [
            *self.brief(view, width),
            [],
            heading("why this tier"),
            pair("forecast error", fraction(opinion.error), width),
            pair("confidence", fraction(view.frame.mind.confidence), width),
            pair("homeostasis bias", f"{view.frame.mind.homeostasis.tier_bias:+.2f}", width),
            pair("gate threshold", fraction(opinion.threshold), width),
            pair("by the gate alone", opinion.wanted, width),
        ]


def _tokens(view: View, tokens: int) -> str:
    """Return how many tokens, or that the log does not count them."""
    return short(tokens) if tokens or "tokens" not in view.subject.untold else "tokens unknown"


class EventsCard(Card):
    """The newest events of the model."""

    TITLE: ClassVar[str] = "Events"
    TALL: ClassVar[tuple[int, int]] = (9, 18)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        mind = view.frame.mind
        if not mind.events:
            yield [("nothing has happened yet", "quiet")]
            return
        yield [(fit(f"{mind.emitted:,} so far", width), "quiet")]
        for event in reversed(mind.events[-64 if self.rich else -8 :]):
            name, facts = event_name(event), plain(event_facts(event), 80)
            when = f"{clock(event.at - view.start)} "
            room = max(1, width - len(when) - len(name) - 2)
            yield [(when, "quiet"), (f"{name}  ", "plain"), (fit(facts, room), "quiet")]


MIND_CARDS: tuple[type[Card], ...] = (
    *(CorticalCard, SleepCard, HomeostasisCard, TierCard, ClockCard),
    *(HeartbeatCard, EpisodeCard, WakeupCard, HabituationCard, EventsCard),
)
