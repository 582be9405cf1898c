"""A panel: a card with the failures by tool, up to the playhead."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from core.events import ToolUse
from tui.draw.line import Line
from tui.feed.view import View
from tui.widgets.common.card import Card, pair, sentence_lines


class FailuresCard(Card):
    """Which tools failed how often."""

    TITLE: ClassVar[str] = "Failures by tool"
    HELP: ClassVar[str] = "## Failures by tool\n\nCalls that failed, by tool, up to the moment shown.\n"

    def brief(self, view: View, width: int) -> list[Line]:
        """Lines of text and ink; nothing of the log is ever markup."""
        events = [] if self.recording is None else self.recording.events[: view.index]
        failed = Counter(event.tool for event in events if isinstance(event, ToolUse) and event.outcome == "failure")
        if not failed:
            return sentence_lines("no call has failed", width)
        return [pair(tool, str(number), width) for tool, number in failed.most_common(8)]
