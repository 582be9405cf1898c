"""Two small screens: the agents of a session, and what is installed beside nooscope."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from tui.feed.messages import SelectAgent
from tui.screens.board import Board, CardBoard, CardScroll
from tui.widgets.common.card import Card, CardColumns
from tui.widgets.model.agents import AgentList, ExtensionCard, installed_cards


class AgentsScreen(Board):
    """The list between status and timeline."""

    AUTO_FOCUS = "AgentList"
    DEFAULT_CSS = "AgentsScreen #agents { height: 1fr; }"

    def body(self) -> Iterable[Widget]:
        yield AgentList(id="agents").data_bind(AgentsScreen.view, AgentsScreen.recording)

    def on_select_agent(self, _: SelectAgent) -> None:
        """The app shows that agent; the screen below is where it is seen."""
        self.dismiss()


class ExtensionsScreen(CardBoard):
    """One card on all of them, then a card for each panel that somebody offers."""

    AUTO_FOCUS = "ExtensionCard"

    def body(self) -> Iterable[Widget]:
        kinds, complaints = installed_cards()
        for sentence in complaints:
            self.app.notify(sentence, severity="warning", markup=False)
        every: tuple[type[Card], ...] = (ExtensionCard, *kinds)
        cards = [make(id=f"card-{number}") for number, make in enumerate(every)]
        for card in cards:
            card.data_bind(CardBoard.view, CardBoard.recording)
        yield CardScroll(CardColumns(*cards, id="cards"), id="board")
