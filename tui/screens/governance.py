"""How far the agent would be let go on, and what bends its mind."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.screens.board import CardBoard
from tui.widgets.common.card import Card
from tui.widgets.governance.agents import SocietyCard
from tui.widgets.governance.budgets import GovernedCard, GovernorCard, PressureCard
from tui.widgets.governance.fields import (
    AgentFieldsCard,
    FieldCard,
    LineageCard,
    ModulationCard,
    QuarantineCard,
)


class GovernanceScreen(CardBoard):
    """The governor and affect, side by side and never mixed."""

    AUTO_FOCUS = "GovernorCard"
    CARDS: ClassVar[tuple[type[Card], ...]] = (
        GovernorCard,
        FieldCard,
        PressureCard,
        ModulationCard,
        GovernedCard,
        LineageCard,
        QuarantineCard,
        SocietyCard,
        AgentFieldsCard,
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "leave", "back", show=False, id="governance.leave", tooltip="Back to where you were"),
    ]
