"""Cards of what would be handed to the agent, what waits, what was told, and what came of it."""

from __future__ import annotations

from typing import ClassVar

from core.engine.response.interventions import CHARACTERS, Intervention, ToldIntervention
from core.events import ToolUse
from core.report.advice import FEW_MOMENTS, moments_until, outcome_counts
from core.report.formatting import clock, count, fraction, plain, span
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.card import Card, pair, sentence_lines
from tui.widgets.response.method_cards import method_name

_WINDOWS = {
    "decide": "before its next decision",
    "reflect": "after its next call",
    "curator": "at the next tick of the clock",
    "dream": "at the next compaction",
}
_FATES = {
    "said": ("» said to the agent", "confidence"),
    "delivered": ("✓ would have been told", "confidence"),
    "expired": ("✗ its moment never came", "frustration"),
    "displaced": ("✗ pushed out by more urgent words", "frustration"),
}


_LOOKED_BACK = 4000
"""Events before the playhead among which troubles are counted."""


class MemoCard(Card):
    """The memo, word for word."""

    TITLE: ClassVar[str] = "Memo for the agent"
    TALL: ClassVar[tuple[int, int]] = (10, 16)
    HELP: ClassVar[str] = """\
## Memo for the agent

The text an agent would get if it asked for advice now, word for word, the newest first, cut to its budget.
Nothing is handed over unless you installed a hook that does.
"""

    def said(self, view: View, width: int) -> list[Line]:
        response = view.frame.response
        if not response.memo_text:
            return sentence_lines("empty: no method has advice for the agent", width)
        tokens = -(-len(response.memo_text) // CHARACTERS)
        made: list[Line] = [
            [(fit(f"{count(len(response.memo), 'note')}, about {count(tokens, 'token')}", width), "quiet")]
        ]
        for line in response.memo_text.splitlines():
            made += sentence_lines(plain(line), width, "plain")
        return made


class QueueCard(Card):
    """Words that wait for their moment."""

    TITLE: ClassVar[str] = "Waiting to be told"
    TALL: ClassVar[tuple[int, int]] = (6, 10)
    HELP: ClassVar[str] = """\
## Waiting to be told

Words for the agent that wait for the moment they are meant for, the most urgent first. Past their deadline
they are dropped.
"""

    def said(self, view: View, width: int) -> list[Line]:
        queue = view.frame.response.queue
        if not queue.waiting:
            return [[(fit(f"nothing waits; {queue.count:,} asked for so far", width), "quiet")]]
        made: list[Line] = []
        for one in queue.waiting[: 30 if self.rich else 4]:
            left = span(max(0.0, one.deadline - view.at))
            made += sentence_lines(plain(one.message), width, "plain")
            made.append(
                [(fit(f"  {_moment(one)}, from “{method_name(one.sender)}”, {left} left", width), "quiet")]
            )
        return made


def _moment(one: Intervention) -> str:
    if one.cancel:
        return "at once, and stop"
    return "at once" if one.window is None else _WINDOWS[one.window]


class ToldCard(Card):
    """What was told, with the agent before and after."""

    TITLE: ClassVar[str] = "Told, and what came of it"
    TALL: ClassVar[tuple[int, int]] = (12, 20)
    HELP: ClassVar[str] = """\
## Told, and what came of it

Each word whose moment came or passed, newest first: what the agent's state and frustration were when it was
told, and some acts later. A fall of frustration after a word is not yet its effect: the hour would have
passed without it too. Above them it is counted how often nearly the same call ended the same way again within
some acts, where the words were said and where they were due and nobody spoke. Nobody chose at random when to
speak, so a difference may have other causes.
"""

    def said(self, view: View, width: int) -> list[Line]:
        told = view.frame.response.queue.told
        if not told:
            return [[("nothing told so far", "quiet")]]
        made = self._counted(view, width)
        for one in [*reversed(told)][: 40 if self.rich else 3]:
            made += self._told(one, view, width)
        return made

    def _counted(self, view: View, width: int) -> list[Line]:
        """How often the same trouble came again, with a word and without."""
        if self.recording is None:
            return []
        within = self.recording.settings.response.advice.within
        events = self.recording.events
        first = max(0, view.index - _LOOKED_BACK)
        calls = [
            event
            for event in events[first : view.index]
            if type(event) is ToolUse and event.agent == view.agent and event.outcome != "pending"
        ]
        told = [one for one in view.frame.response.queue.told if calls and one.at >= calls[0].at]
        moments = moments_until(told, calls, within)
        counts = [outcome_counts(moments, said, within) for said in (True, False)]
        words = [
            f"{'said' if said else 'not said'}: again {again} of {again + away}"
            + (f", {early} too early" if early else "")
            for said, (again, away, early) in zip((True, False), counts, strict=True)
            if again + away + early
        ]
        few = " (too few to tell)" if min(again + away for again, away, _ in counts) < FEW_MOMENTS else ""
        text = f"the same trouble within {within} acts: {'; '.join(words)}{few}"
        return sentence_lines(text, width, "strong") if words else []

    def _told(self, one: ToldIntervention, view: View, width: int) -> list[Line]:
        fate, ink = _FATES[one.fate]
        when = f"{clock(one.at - view.start)} "
        made: list[Line] = [[(when, "quiet"), (fit(fate, max(1, width - len(when))), ink)]]
        words = plain(one.intervention.message) or "a sentence of yours, or of other settings"
        made += sentence_lines(f"  {words}", width, "plain")
        before = f"{one.intervention.state.replace('_', ' ')} {fraction(one.trouble)}"
        if one.fate not in ("said", "delivered"):
            return made
        if one.after_state is None or one.after_trouble is None:
            return [*made, [(fit(f"  before {before}, after: not yet known", width), "quiet")]]
        moved = one.after_trouble - one.trouble
        sign = "▼" if moved < -0.005 else "▲" if moved > 0.005 else "="
        after = f"{one.after_state.replace('_', ' ')} {fraction(one.after_trouble)} {sign}"
        return [*made, [(fit(f"  frustration before: {before}, after: {after}", width), "quiet")]]


class NotedCard(Card):
    """What methods noted in silence, and the moments they asked to keep."""

    TITLE: ClassVar[str] = "Noted in silence"
    TALL: ClassVar[tuple[int, int]] = (6, 12)
    HELP: ClassVar[str] = """\
## Noted in silence

What background methods wrote down without telling anyone, newest first, and moments a method asked to keep.
"""

    def said(self, view: View, width: int) -> list[Line]:
        response = view.frame.response
        made: list[Line] = []
        for entry in [*reversed(response.log)][: 40 if self.rich else 3]:
            made += sentence_lines(f"{clock(entry.at - view.start)} {plain(entry.text)}", width, "plain")
        for kept in [*reversed(response.checkpoints)][: 10 if self.rich else 2]:
            where = plain(kept.centre, max(8, width // 2))
            made.append(pair(f"⚑ {plain(kept.name, 30)}", where or clock(kept.at - view.start), width))
        return made or [[("nothing noted so far", "quiet")]]
