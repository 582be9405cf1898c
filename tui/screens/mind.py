"""The mind behind the emotions: its clock, state, habits, balance, sleep, memory and spending."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.screens.board import CardBoard
from tui.widgets.common.card import Card
from tui.widgets.mind.clock_cards import ClockCard, SleepCard, WakeupCard
from tui.widgets.mind.episode_cards import EpisodeCard, EventsCard, TierCard
from tui.widgets.mind.state_cards import CorticalCard, HabituationCard, HomeostasisCard


class MindScreen(CardBoard):
    """Nine cards; enter shows one alone with all it has."""

    AUTO_FOCUS = "CorticalCard"
    CARDS: ClassVar[tuple[type[Card], ...]] = (
        CorticalCard,
        SleepCard,
        HomeostasisCard,
        TierCard,
        ClockCard,
        EpisodeCard,
        WakeupCard,
        HabituationCard,
        EventsCard,
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "leave", "back", show=False, id="mind.leave", tooltip="Back to where you were"),
    ]
