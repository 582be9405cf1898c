"""The Model screen: one tab for each model of the agent, and one for its branches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.keys import bind
from tui.screens.board import Board, CardBoard
from tui.widgets.common.card import Card
from tui.widgets.model.governance import (
    AgentFieldsCard,
    FieldCard,
    GovernedCard,
    GovernorCard,
    LineageCard,
    ModulationCard,
    PressureCard,
    QuarantineCard,
    SocietyCard,
)
from tui.widgets.model.mind import (
    ClockCard,
    CorticalCard,
    EpisodeCard,
    EventsCard,
    HabituationCard,
    HeartbeatCard,
    HomeostasisCard,
    SleepCard,
    TierCard,
    WakeupCard,
)
from tui.widgets.model.response import (
    CandidateCard,
    FactsCard,
    FiredCard,
    LearnedCard,
    MemoCard,
    NotedCard,
    OutlookCard,
    PressureToAskCard,
    QueueCard,
    ToldCard,
)

# The tabs in order; keys 1 to 5 open them.
TABS = {"mind": "Mind", "governor": "Governor", "affect": "Affect", "response": "Response", "branches": "Branches"}


class TabLine(Static):
    """The names of all tabs, with the open one in brackets as well as in bold."""

    DEFAULT_CSS = "TabLine { height: 1; padding: 0 1; color: $text-muted; }"

    def __init__(self, tab: str) -> None:
        parts: list[tuple[str, str]] = [("Model  ", "bold")]
        for number, (name, title) in enumerate(TABS.items(), 1):
            active = name == tab
            text = f"[{number} {title}]" if active else f" {number} {title} "
            parts.append((text, "bold" if active else ""))
        super().__init__(Content.assemble(*parts))


class ModelTab(Board):
    """One tab; number keys open the others and `m` leaves them all."""

    TAB: ClassVar[str]
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("show.model", "leave", "", "Back to the main screen"),
        *(
            bind(f"part.{number}", f"open_tab('{name}')", title.lower(), f"Open the {title} tab")
            for number, (name, title) in enumerate(TABS.items(), 1)
        ),
    ]

    def action_open_tab(self, name: str) -> None:
        """Show another tab in place of this one."""
        if name != self.TAB:
            app: Any = self.app
            self.dismiss()
            app.action_show(name)


class ModelCards(ModelTab, CardBoard):
    """A tab of cards; Enter shows one card alone."""

    def body(self) -> Iterable[Widget]:
        yield TabLine(self.TAB)
        yield from super().body()


class MindScreen(ModelCards):
    """Clock, state, habits, balance, sleep, memory and spending."""

    TAB = "mind"
    AUTO_FOCUS = "CorticalCard"
    CARDS: ClassVar[tuple[type[Card], ...]] = (
        CorticalCard,
        SleepCard,
        HomeostasisCard,
        TierCard,
        ClockCard,
        HeartbeatCard,
        EpisodeCard,
        WakeupCard,
        HabituationCard,
        EventsCard,
    )


class GovernorScreen(ModelCards):
    """How far the governor would let the agent go."""

    TAB = "governor"
    AUTO_FOCUS = "GovernorCard"
    CARDS: ClassVar[tuple[type[Card], ...]] = (GovernorCard, PressureCard, GovernedCard)


class AffectScreen(ModelCards):
    """The affect field: what moved it, what it changes, and how agents share it."""

    TAB = "affect"
    AUTO_FOCUS = "FieldCard"
    CARDS: ClassVar[tuple[type[Card], ...]] = (
        FieldCard,
        ModulationCard,
        LineageCard,
        QuarantineCard,
        SocietyCard,
        AgentFieldsCard,
    )


class ResponseScreen(ModelCards):
    """What the model would do about it: outlook, advice, memo, queue and what was sent."""

    TAB = "response"
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
