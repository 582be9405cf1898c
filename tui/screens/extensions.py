"""What is installed beside nooscope: who listens, how each does, and the panels they bring."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from tui.screens.board import CardBoard, CardScroll
from tui.widgets.common.card import Card
from tui.widgets.common.card_columns import CardColumns
from tui.widgets.extensions.cards import ExtensionCard, installed_cards


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
