"""Cards of the Response tab: outlook and facts, methods and what fired, memo, queue and messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from core.engine.response.interventions import CHARACTERS, Intervention, PastIntervention
from core.engine.response.outlook import DIRECTION_WORDS, band_words
from core.engine.response.scoring import Candidate
from core.events import ToolUse
from core.report.advice import FEW_MOMENTS, moments_until, outcome_counts
from core.report.event_words import firing_words
from core.report.formatting import clock, count, fraction, plain, share, short, span
from tui.draw.line import Line, first_fit, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, gauge, heading, pair, sentence_lines, signed

_DIRECTIONS = {
    "too early": ("·", "quiet"),
    "worse": ("▼", "frustration"),
    "usual": ("─", "plain"),
    "better": ("▲", "confidence"),
}


def outlook_words(view: View) -> str:
    """How the run goes, without contradicting its status and story."""
    frame, status = view.frame, "" if view.status is None else view.status.word
    return frame.response.outlook.words_beside(status, frame.story.state, frame.story.regime)


class OutlookCard(Card):
    """Whether the run goes worse or better than usual, and why."""

    TITLE: ClassVar[str] = "Outlook"
    TALL: ClassVar[tuple[int, int]] = (11, 14)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        outlook, words = view.frame.response.outlook, outlook_words(view)
        as_read = words == DIRECTION_WORDS[outlook.direction]
        glyph, ink = _DIRECTIONS[outlook.direction] if as_read else ("─", "alert")
        yield [(f"{glyph} ", ink), (fit(words, max(1, width - 2)), ink)]
        if outlook.stage == "too early":
            return
        if self.rich:
            yield signed("shift", outlook.shift, width, f"{outlook.shift:+.1f}", reach=3.0, worse_above=True)
            yield pair("with its margin", band_words(outlook), width)
        if outlook.chance is not None:
            yield pair("chance of failing", f"{100 * outlook.chance:.0f}%", width)
        for reason in outlook.reasons:
            sign = "▼" if reason.amount > 0 else "▲"
            text = reason.text.rpartition(":")[0]
            words = first_fit((text, text.rpartition(",")[0]), width - 4)
            yield [(fit(f"  {sign} {words}", width), "plain")]
        if self.rich:
            yield from sentence_lines(f"learned from {outlook.fitted_on}", width)


class FactsCard(Card):
    """Plain counts of what the agent did."""

    TITLE: ClassVar[str] = "Facts"
    TALL: ClassVar[tuple[int, int]] = (14, 22)

    def brief(self, view: View, width: int) -> list[Line]:
        facts = view.frame.receptor.facts
        recent = f"{facts.failures_recent} of the last {facts.of_failures}" if facts.of_failures else "none yet"
        rows = [
            ("actions", f"{facts.actions:,}"),
            ("reads and searches", f"{facts.looks:,}"),
            ("commands, edits", f"{facts.runs:,}, {facts.edits:,}"),
            ("failed", f"{facts.failures:,} ({share(facts.failures, facts.actions)}), {recent}"),
            ("failures in a row", f"{facts.failures_in_a_row:,}"),
            ("repeated errors", count(facts.same_error, "time")),
            ("changes", f"{facts.changes:,} in {count(facts.changed_files, 'file')}"),
            ("edits checked", f"{facts.checks:,}, {facts.checks_passed:,} passed"),
            ("edits since a pass", f"{facts.edits_since_pass:,}"),
            ("since the last change", count(facts.since_change, "action")),
            ("same call, same result", count(facts.same_result, "time")),
            ("read again in vain", count(facts.rereads, "time")),
        ]
        if self.rich:
            rows += [
                ("test runs", f"{facts.tests:,}"),
                ("failed edits", f"{facts.failed_edits:,}, {facts.failed_edits_again:,} of the same file"),
                ("failed reads", f"{facts.failed_reads:,}"),
                ("same call, new result", count(facts.new_result, "time")),
                ("edits of an edited file", f"{facts.edits_again:,}"),
                ("new files touched", f"{facts.new_files:,}"),
                ("reads before a change", f"{facts.looks_before_edit:,}"),
                ("commands since a change", f"{facts.runs_since_change:,}"),
                ("recent stale results", f"{facts.stale_recent:,} of the last {facts.of_recent:,}"),
                ("phrases of checking", f"{facts.words_of_checking:,}"),
                ("phrases of doubt", f"{facts.words_of_doubt:,}"),
            ]
        return [pair(name, value, width) for name, value in rows]


_MODES = {"auto": "in the memo", "notify": "notifies you", "background": "logged only"}
_WIDE = 92  # Width from which the terms stand in columns.
_DETECTORS = {
    "repeat": "same calls again",
    "failing": "calls keep failing",
    "oscillation": "edited back and forth",
    "retest": "fails after each edit",
    "rework": "edited again and again",
    "stalled": "nothing new",
    "no_progress": "no progress",
}
_TERMS = ("state", "signal", "sens.", "learned", "rested")


class CandidateCard(Card):
    """Every method at the last action, the nearest to firing first."""

    TITLE: ClassVar[str] = "Methods"
    TALL: ClassVar[tuple[int, int]] = (20, 26)

    def brief(self, view: View, width: int) -> list[Line]:
        candidates = sorted(view.frame.response.candidates, key=_near)
        near = [candidate for candidate in candidates if candidate.score > 0.0 or candidate.fired]
        lines: list[Line] = []
        for candidate in near[:6]:
            lines += [_scored(candidate, width), [(fit(f"  {candidate.why}", width), "quiet")]]
        if len(near) > 6:
            lines.append([(f"and {count(len(near) - 6, 'more method')}; Enter shows them", "quiet")])
        for why, names in _quiet([candidate for candidate in candidates if candidate not in near]).items():
            lines.append([(fit(f"{count(len(names), 'method')}: {why}", width), "plain")])
            lines += sentence_lines("  " + ", ".join(names), width)
        return lines or [[("no rules are loaded", "quiet")]]

    def more(self, view: View, width: int) -> list[Line]:
        response = view.frame.response
        fired = dict(response.fired)
        lines: list[Line] = []
        if width >= _WIDE:
            head = "".join(term.rjust(9) for term in _TERMS)
            lines.append([(fit("", 24) + head + "    score  above  fired", "quiet")])
        for candidate in sorted(response.candidates, key=_near):
            if width >= _WIDE:
                lines.append(_terms(candidate, fired.get(candidate.id, 0), width))
            else:
                lines.append(_scored(candidate, width))
            reason = f"  {candidate.why}; {_MODES[candidate.mode]}"
            lines += sentence_lines(reason, width)
        return lines or [[("no rules are loaded", "quiet")]]


def _quiet(candidates: list[Candidate]) -> dict[str, list[str]]:
    """The names of methods that score nothing, by why."""
    matches: dict[str, list[str]] = {}
    for candidate in candidates:
        why = "not triggered" if candidate.why.startswith("not triggered") else candidate.why
        matches.setdefault(why, []).append(method_name(candidate.id))
    return matches


def _near(candidate: Candidate) -> tuple[bool, float, str]:
    """Fired first, then by how near each came."""
    nearness = candidate.score / candidate.threshold if candidate.threshold else candidate.score
    return not candidate.fired, -nearness, candidate.id


def method_name(name: str) -> str:
    """Return what a method does, in words; one of the person's own by its name."""
    return plain(firing_words(name), 40)


def _scored(candidate: Candidate, width: int) -> Line:
    glyph, ink = ("◆ ", "strong") if candidate.fired else ("  ", "plain")
    room = max(10, min(26, width - 14))
    bar_ink, score = "frustration" if candidate.fired else "heat-2", candidate.score
    bar = gauge("", score, max(20, width - room + 8), fraction(score), ink=bar_ink, limit=candidate.threshold)[1:]
    return [(glyph, ink), (fit(method_name(candidate.id), room), ink), *_within(bar, width - room - 2)]


def _within(bar: Line, width: int) -> Line:
    """The end of a bar that fits, its figure always there."""
    over = sum(len(text) for text, _ in bar) - width
    line: Line = []
    for text, ink in bar:
        cut = min(max(0, over), len(text)) if ink != "plain" else 0
        over -= cut
        line.append((text[cut:], ink))
    return line


def _terms(candidate: Candidate, times: int, width: int) -> Line:
    signal = candidate.signal_match * candidate.intensity
    values = candidate.state_match, signal, candidate.sensitivity, candidate.learned, candidate.recency
    glyph, ink = ("◆ ", "strong") if candidate.fired else ("  ", "plain")
    figures = "".join(f"{value:.2f}".rjust(9) for value in values)
    text = f"{figures}   {candidate.score:6.3f} {candidate.threshold:6.2f} {times:6,}"
    return [(glyph, ink), (fit(method_name(candidate.id), 22), ink), (fit(text, width - 24), ink)]


class PressureToAskCard(Card):
    """How near the model is to asking you to look, and the loops behind it."""

    TITLE: ClassVar[str] = "Pressure to ask you"
    TALL: ClassVar[tuple[int, int]] = (9, 18)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        response = view.frame.response
        pressure, over = response.pressure, response.pressure >= response.asks_at
        ink = "frustration" if over else "heat-2"
        yield gauge("pressure", pressure, width, fraction(pressure), ink=ink, limit=response.asks_at)
        missing = response.asks_at - response.pressure
        words = "reached" if over else f"{fraction(missing)} below it"
        yield [(fit(f"  threshold {fraction(response.asks_at)}, {words}", width), "quiet")]
        loop = response.loops.current
        if loop is not None:
            yield [("▲ ", "alert"), (fit(plain(loop.what), max(1, width - 2)), "alert")]
            since = clock(loop.began_at - view.start)
            yield [(fit(f"  since {since}, strength {fraction(loop.intensity)}", width), "quiet")]
        else:
            yield [(fit("no loop now", width), "quiet")]
        ranked = sorted(response.loops.detectors, key=lambda one: -one.count / max(1, one.limit))
        for detector in ranked[: 99 if self.rich else 4]:
            name = _DETECTORS.get(detector.name, detector.name.replace("_", " "))
            state = f"{short(detector.count)} of {short(detector.limit)}" if detector.enabled else "switched off"
            yield pair(f"  {name}", state, width)


class LearnedCard(Card):
    """How earlier sessions moved the sensitivity of each axis."""

    TITLE: ClassVar[str] = "Learned"
    TALL: ClassVar[tuple[int, int]] = (5, 9)

    def brief(self, view: View, width: int) -> list[Line]:
        learned = view.frame.response.learned
        if not any(delta for _, delta in learned):
            return sentence_lines("nothing learned yet: every axis counts as set", width)
        ranked = sorted(learned, key=lambda one: -abs(one[1]))
        return [signed(axis, delta, width, f"{delta:+.2f}", reach=0.5) for axis, delta in ranked]


class FiredCard(Card):
    """The last method that fired, and how often each fired."""

    TITLE: ClassVar[str] = "Last response"
    TALL: ClassVar[tuple[int, int]] = (8, 14)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        response = view.frame.response
        last = response.last
        if last is None:
            yield [("no method has fired so far", "quiet")]
            return
        when = f" {clock(last.at - view.start)}"
        name = fit(method_name(last.method), max(1, width - 2 - len(when)))
        yield [("◆ ", "strong"), (name, "strong"), (when, "quiet")]
        yield from sentence_lines(plain(last.text), width, "plain")
        yield from sentence_lines(f"because {plain(last.reason)}", width)
        yield heading("so far")
        ranked = sorted(response.fired, key=lambda one: (-one[1], one[0]))
        for name, times in ranked[: 20 if self.rich else 4]:
            yield pair(f"  {method_name(name)}", count(times, "time"), width)


_WINDOWS = {
    "decide": "before its next decision",
    "reflect": "after its next call",
    "curator": "at the next tick of the clock",
    "dream": "at the next compaction",
}
_FATES = {
    "said": ("» sent to the agent", "confidence"),
    "delivered": ("✓ would have been sent", "confidence"),
    "expired": ("✗ its moment never came", "frustration"),
    "displaced": ("✗ replaced by a more urgent message", "frustration"),
}


_LOOKED_BACK = 4000  # Events before the playhead in which problems are counted.


class MemoCard(Card):
    """The memo, word for word."""

    TITLE: ClassVar[str] = "Memo for the agent"
    TALL: ClassVar[tuple[int, int]] = (10, 16)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        response = view.frame.response
        if not response.memo_text:
            yield from sentence_lines("empty: no advice for the agent", width)
            return
        tokens = -(-len(response.memo_text) // CHARACTERS)
        yield [(fit(f"{count(len(response.memo), 'note')}, about {count(tokens, 'token')}", width), "quiet")]
        for line in response.memo_text.splitlines():
            yield from sentence_lines(plain(line), width, "plain")


class QueueCard(Card):
    """Messages that wait for their moment."""

    TITLE: ClassVar[str] = "Messages waiting"
    TALL: ClassVar[tuple[int, int]] = (6, 10)

    def brief(self, view: View, width: int) -> Iterator[Line]:
        queue = view.frame.response.queue
        if not queue.waiting:
            yield [(fit(f"none waiting, {queue.count:,} so far", width), "quiet")]
            return
        for one in queue.waiting[: 30 if self.rich else 4]:
            left = span(max(0.0, one.deadline - view.at))
            yield from sentence_lines(plain(one.message), width, "plain")
            yield [(fit(f"  {_moment_words(one)}, from “{method_name(one.sender)}”, {left} left", width), "quiet")]


def _moment_words(one: Intervention) -> str:
    if one.cancel:
        return "at once, and stop"
    return "at once" if one.window is None else _WINDOWS[one.window]


class ToldCard(Card):
    """Messages that were sent or dropped, with the agent's state before and after."""

    TITLE: ClassVar[str] = "Messages and what followed"
    TALL: ClassVar[tuple[int, int]] = (12, 20)

    def brief(self, view: View, width: int) -> list[Line]:
        messages = view.frame.response.queue.past
        if not messages:
            return [[("no messages so far", "quiet")]]
        lines = self._counted(view, width)
        for one in [*reversed(messages)][: 40 if self.rich else 3]:
            lines += self._message_lines(one, view, width)
        return lines

    def _counted(self, view: View, width: int) -> list[Line]:
        """Return how often the same problem came back, with a message and without."""
        if self.recording is None:
            return []
        within = self.recording.settings.response.advice.within
        events = self.recording.events[max(0, view.index - _LOOKED_BACK) : view.index]
        calls = [one for one in events if type(one) is ToolUse and one.agent == view.agent and one.outcome != "pending"]
        messages = [one for one in view.frame.response.queue.past if calls and one.at >= calls[0].at]
        moments = moments_until(messages, calls, within)
        counts = [outcome_counts(moments, spoken_of, within) for spoken_of in (True, False)]
        words = []
        for label, (again, away, early) in zip(("with a message", "without a message"), counts, strict=True):
            if again + away + early:
                words.append(f"{label}: {again} of {again + away}" + (f", {early} too early" if early else ""))
        few = " (too few to compare)" if min(again + away for again, away, _ in counts) < FEW_MOMENTS else ""
        text = f"same problem again within {within} actions: {'; '.join(words)}{few}"
        return sentence_lines(text, width, "strong") if words else []

    def _message_lines(self, one: PastIntervention, view: View, width: int) -> Iterator[Line]:
        fate, ink = _FATES[one.fate]
        when = f"{clock(one.at - view.start)} "
        yield [(when, "quiet"), (fit(fate, max(1, width - len(when))), ink)]
        words = plain(one.intervention.message) or "a message of yours, or of other settings"
        yield from sentence_lines(f"  {words}", width, "plain")
        before = f"{one.intervention.state.replace('_', ' ')} {fraction(one.trouble)}"
        if one.fate not in ("said", "delivered"):
            return
        if one.after_state is None or one.after_trouble is None:
            yield [(fit(f"  before {before}, after: not yet known", width), "quiet")]
            return
        moved = one.after_trouble - one.trouble
        sign = "▼" if moved < -0.005 else "▲" if moved > 0.005 else "="
        after = f"{one.after_state.replace('_', ' ')} {fraction(one.after_trouble)} {sign}"
        yield [(fit(f"  frustration before: {before}, after: {after}", width), "quiet")]


class NotedCard(Card):
    """Entries that methods only logged, and the checkpoints they asked for."""

    TITLE: ClassVar[str] = "Logged only"
    TALL: ClassVar[tuple[int, int]] = (6, 12)

    def brief(self, view: View, width: int) -> list[Line]:
        response = view.frame.response
        lines: list[Line] = []
        for entry in [*reversed(response.log)][: 40 if self.rich else 3]:
            lines += sentence_lines(f"{clock(entry.at - view.start)} {plain(entry.text)}", width, "plain")
        for checkpoint in [*reversed(response.checkpoints)][: 10 if self.rich else 2]:
            where = plain(checkpoint.centre, max(8, width // 2))
            lines.append(pair(f"⚑ {plain(checkpoint.name, 30)}", where or clock(checkpoint.at - view.start), width))
        return lines or [[("nothing logged so far", "quiet")]]


RESPONSE_CARDS: tuple[type[Card], ...] = (
    *(OutlookCard, PressureToAskCard, FiredCard, MemoCard, CandidateCard),
    *(FactsCard, ToldCard, QueueCard, LearnedCard, NotedCard),
)
