"""The columns of the table of events."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from core.events import AgentEnd, Event, ToolUse, Turn
from core.report.event_words import OUTCOME_SIGNS, about, kind_of, outcome_of, tool_of
from core.report.formatting import clock, plain
from core.timeline.marks import Mark
from tui.draw.line import Line, fit, path_end
from tui.feed.view import View
from tui.widgets.common.mark_words import mark_glyph, mark_style, mark_text
from tui.widgets.common.timeline_cells import GLYPHS

_TOOK = 5
_SIGNS = 4
"""Up to this width what fired is shown by its signs alone."""
_RANK = {kind: rank for rank, kind in enumerate(GLYPHS)}


class EventColumns:
    """How wide each column is at one width of the table; without room the tool stands before the target."""

    __slots__ = ("agent", "fired", "kind", "number", "outcome", "tool", "what")

    def __init__(self, width: int, digits: int, *, several: bool) -> None:
        wide, huge = width >= 100, width >= 150
        self.number = max(4, digits)
        self.agent = (16 if huge else 9 if wide else 5) if several else 0
        self.kind = 13 if wide else 11
        self.tool = 18 if huge else 0
        self.outcome = 12 if wide else 9
        self.fired = 40 if huge else 24 if wide else 3
        shown = (self.number, 8, self.agent, self.kind, self.tool, self.outcome, _TOOK, self.fired)
        self.what = max(6, width - 3 - sum(column + 1 for column in shown if column))

    def titles(self) -> Line:
        """What each column is."""
        columns = (
            ("#".rjust(self.number), self.number),
            ("time", 8),
            ("agent", self.agent),
            ("kind", self.kind),
            ("tool", self.tool),
            ("what", self.what),
            ("outcome", self.outcome),
            ("took".rjust(_TOOK), _TOOK),
            ("fired" if self.fired > _SIGNS else "", self.fired),
        )
        return [("  " + " ".join(fit(text, room) for text, room in columns if room), "quiet")]

    def line(self, event: Event, place: int, fired: Sequence[Mark], view: View) -> Line:
        """One event."""
        sign, colour = OUTCOME_SIGNS.get(outcome := outcome_of(event), (" ", "plain"))
        took = event.duration if isinstance(event, ToolUse | AgentEnd) else None
        line: Line = [
            ("▶ " if place == view.index - 1 else "  ", "live"),
            (f"{place + 1:>{self.number},} {clock(event.at - view.start)} ", "quiet"),
        ]
        if self.agent:
            line.append((fit(plain(event.agent, self.agent), self.agent) + " ", "quiet"))
        ink = "plain" if isinstance(event, ToolUse) else "quiet" if isinstance(event, Turn) else "strong"
        line.append((fit(kind_of(event), self.kind) + " ", ink))
        return [
            *line,
            *self._what(event),
            (fit(f"{sign} {outcome}".rstrip(), self.outcome) + " ", colour),
            (f"{call_duration(took):>{_TOOK}} ", "quiet"),
            *self._fired(fired),
        ]

    def _what(self, event: Event) -> Line:
        """Tool, program and target in one column or in two; of a path its end stays."""
        words, path = map(plain, about(event))
        tool, room = plain(tool_of(event)), self.what
        ink = "quiet" if isinstance(event, Turn) else "plain"
        if self.tool:
            head = fit(plain(tool, self.tool), self.tool) + " "
        else:
            head = f"{plain(tool, room // 2)} " if tool and not isinstance(event, Turn) else ""
        lead = fit(words, min(len(words), room)) + " " if words else ""
        left = room - len(lead) - (0 if self.tool else len(head))
        if left < min(8, len(path)):
            path = ""
        said = fit(lead + path_end(path, left), room - (0 if self.tool else len(head)))
        return [(head, "quiet"), (said + " ", ink)]

    def _fired(self, fired: Sequence[Mark]) -> Line:
        line: Line = []
        room = self.fired
        for mark in sorted(fired, key=lambda mark: _RANK[mark.kind]):
            said = mark_glyph(mark) if self.fired <= _SIGNS else f"{mark_glyph(mark)} {mark_text(mark)} "
            line.append((said if len(said) <= room else fit(said, room), mark_style(mark)))
            room -= len(said)
            if room < 1:
                break
        return line


@lru_cache(maxsize=16)
def columns_for(width: int, digits: int, several: bool) -> EventColumns:
    """The columns of a table of that width."""
    return EventColumns(width, digits, several=several)


def call_duration(took: float | None) -> str:
    """A duration of a call: 40ms, 3.2s, 12m."""
    if took is None or took < 0:
        return ""
    if took < 1:
        return f"{1000 * took:.0f}ms"
    if took < 99.95:
        return f"{took:.1f}s"
    return f"{took / 60:.0f}m" if took < 6000 else f"{took / 3600:.0f}h"
