"""What the model would do about it: candidates, memo, queue, what was told, and how the run goes."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.screens.board import CardBoard
from tui.widgets.common.card import Card
from tui.widgets.response.method_cards import CandidateCard, FiredCard, LearnedCard, PressureToAskCard
from tui.widgets.response.outlook_cards import FactsCard, OutlookCard
from tui.widgets.response.told_cards import MemoCard, NotedCard, QueueCard, ToldCard


class ResponseScreen(CardBoard):
    """Everything of the response at the playhead; enter shows one card alone with all it has."""

    AUTO_FOCUS = "OutlookCard"
    CARDS: ClassVar[tuple[type[Card], ...]] = (
        OutlookCard,
        PressureToAskCard,
        FiredCard,
        MemoCard,
        CandidateCard,
        FactsCard,
        ToldCard,
        QueueCard,
        LearnedCard,
        NotedCard,
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "leave", "back", show=False, id="response.leave", tooltip="Back to where you were"),
    ]
