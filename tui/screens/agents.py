"""The agents of a session, a row each; enter shows one of them on every screen."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from tui.feed.messages import SelectAgent
from tui.screens.board import Board
from tui.widgets.agents.agent_list import AgentList


class AgentsScreen(Board):
    """The list between status and timeline."""

    AUTO_FOCUS = "AgentList"
    DEFAULT_CSS = "AgentsScreen #agents { height: 1fr; }"

    def body(self) -> Iterable[Widget]:
        yield AgentList(id="agents").data_bind(AgentsScreen.view, AgentsScreen.recording)

    def on_select_agent(self, _: SelectAgent) -> None:
        """The app shows that agent; the screen below is where it is seen."""
        self.dismiss()
