"""Marks in a glyph, a style and plain words; glyphs are those of the timeline."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from core.engine.governor import HALT_WORDS
from core.engine.percept import SIGNAL_AXES, SIGNALS, Axis
from core.report.event_words import MARKS, SIGNAL_WORDS, cause_words, firing_words
from core.report.formatting import fraction, plain, short
from core.timeline.marks import Mark, MarkKind
from core.timeline.timeline import Timeline
from tui.widgets.common.timeline_cells import GLYPHS, mark_cell

if TYPE_CHECKING:
    from core.timeline.marks import Marks

_STATE = ("•", "quiet")
# The axis in whose colour a signal is drawn.
MAIN_AXES: dict[str, Axis] = {name: axes[0] for name, axes in SIGNAL_AXES.items()}
_HALTS = {str(reason): words for reason, words in HALT_WORDS.items()}


def mark_style(mark: Mark) -> str:
    """The style of a mark: a signal has its axis' own."""
    if mark.kind == "signal":
        return MAIN_AXES.get(mark.name, "frustration")
    return GLYPHS.get(mark.kind, _STATE)[1]


def mark_glyph(mark: Mark) -> str:
    """The glyph of a mark; signals that things go well are hollow."""
    return mark_cell(mark)[0] if mark.kind in GLYPHS else _STATE[0]


def mark_text(mark: Mark, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Say what happened, in words; `names` holds the agents' names."""
    name = plain(mark.name)
    if mark.kind == "agent":
        agent, _, what = mark.name.rpartition(" ")
        return f"{names.get(agent) or plain(agent)} {what}"
    if mark.kind in ("signal", "method"):
        return firing_words(name)
    if mark.kind == "halt":
        return f"would halt: {_HALTS.get(name, name.lower())}"
    if mark.kind == "quarantine":
        return f"affect {name} quarantine"
    if mark.kind == "compaction":
        return "compaction" if name == "compaction" else f"compaction, {name}"
    if mark.kind == "dream":
        return "dream after compaction" if name == "compaction" else "dream, pressure was high"
    if mark.kind == "prompt":
        return "you interrupted" if name == "interrupt" else "your prompt"
    if mark.kind == "state":
        return f"now {name.replace('_', ' ')}"
    if mark.kind == "regime":
        return f"regime {name}"
    return name.replace("_", " ")


def _advice(kind: str, name: str) -> str:
    words: str = MARKS[kind].get(name, {}).get("advice", "")
    return words


def mark_reason(mark: Mark, timeline: Timeline) -> str:
    """Say in one line what caused a mark and what to do."""
    if mark.kind == "method":
        return _trigger(mark, timeline)
    advice = _advice("signal", mark.name) if mark.kind == "signal" else _advice("kind", mark.kind)
    axis = MAIN_AXES.get(mark.name) if mark.kind == "signal" else None
    parts = [cause_words(mark.causes), advice]
    track = timeline.tracks.get(mark.agent)
    row = -1 if track is None else track.row(mark.place)
    if axis is not None and track is not None and 0 <= row < len(track.columns):
        value, limit = (track.columns.value(f"{name}.{axis}", row) for name in ("axis", "threshold"))
        parts.append(f"{axis} {fraction(value)}, fires at {fraction(limit)}")
    return " · ".join(part for part in parts if part)


def _trigger(mark: Mark, timeline: Timeline) -> str:
    """Return a method's subject and answer, and where its words are."""
    inputs = [
        firing_words(one.name)
        for one in timeline.marks.between(mark.place, mark.place + 1)
        if one.kind == "signal" and one.agent == mark.agent
    ]
    because = f"answers {' and '.join(dict.fromkeys(inputs))}" if inputs else ""
    return " · ".join(part for part in (_advice("method", mark.name), because, "m 4 shows its text") if part)


def mark_amount(mark: Mark) -> str:
    """Say how strong or how much, if that is known."""
    if mark.kind in ("signal", "method") and mark.weight:
        return f"+{fraction(mark.weight)}"
    if mark.kind in ("compaction", "prompt") and mark.weight:
        return f"{short(mark.weight)}{'' if mark.kind == 'compaction' else 'c'}"
    if mark.kind == "halt":
        return f"step {mark.weight:.0f}"
    return ""


assert set(SIGNAL_WORDS) == set(SIGNALS)  # noqa: S101


class MarkFilter:
    """Chosen marks of one recording, of one agent or of all."""

    __slots__ = ("_agent", "_kinds", "_marks", "_seen", "kept", "places")

    def __init__(self, *kinds: MarkKind) -> None:
        self._kinds = frozenset(kinds)
        self._agent: str | None = None
        self._marks: Marks | None = None
        self._seen = 0
        self.kept: list[Mark] = []
        self.places: list[int] = []  # Of the kept ones, in the same order.

    def until(self, marks: Marks, index: int, agent: str | None = None) -> int:
        """How many of `kept` happened within the first `index` events."""
        if marks is not self._marks or agent != self._agent or len(marks) < self._seen:
            self._marks, self._agent, self._seen = marks, agent, 0
            self.kept, self.places = [], []
        for number in range(self._seen, len(marks)):
            mark = marks[number]
            if mark.kind in self._kinds and (agent is None or mark.agent == agent):
                self.kept.append(mark)
                self.places.append(mark.place)
            self._seen = number + 1
        return bisect_left(self.places, index)
