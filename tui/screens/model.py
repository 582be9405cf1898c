"""The Model screen, a tab for each model of the agent; the sub-agents of a session; installed extensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from core.report.event_words import firing_words
from core.report.formatting import fraction, plain
from tui.draw.line import Line, clipped
from tui.feed.messages import SelectAgent
from tui.feed.view import View
from tui.keys import bind
from tui.screens.board import Board, CardBoard
from tui.widgets.common.card import Card
from tui.widgets.common.panel import Panel
from tui.widgets.model.agents import AgentList, ExtensionCard, installed_cards
from tui.widgets.model.governance import AFFECT_CARDS, GOVERNOR_CARDS, strongest_field
from tui.widgets.model.mind import MIND_CARDS
from tui.widgets.model.response import RESPONSE_CARDS, outlook_words

# The tabs in order; keys 1 to 5 open them.
TABS = {"mind": "Mind", "governor": "Governor", "affect": "Affect", "response": "Response", "branches": "Branches"}


def tab_readings(tab: str, view: View) -> dict[str, str]:
    """Return the readings of a tab that matter most, by name."""
    mind, governor, affect, response = view.frame.mind, view.frame.governor, view.frame.affect, view.frame.response
    if tab == "mind":
        return {
            "emotion": f"{mind.cortical.emotion} {mind.mood.intensity:.0%}",
            "regime": view.frame.story.regime,
            "sleep pressure": f"{mind.sleep.pressure:.0%}",
            "budget left": f"{mind.cortical.budget_remaining:.0%}",
        }
    if tab == "governor":
        return {
            "state": governor.state.lower(),
            "effort": fraction(governor.budgets.effort),
            "no progress for": f"{governor.stagnant} of {governor.profile.stagnation_window} steps",
            "would halt": governor.halt or "no",
        }
    if tab == "affect":
        return {
            "affect": "quarantined" if affect.quarantined else "trusted",
            "volatility": f"{affect.volatility:.2f} of {affect.enter:.2f}",
            "strongest field": strongest_field(tuple(one.magnitude - one.rest for one in affect.fields)) or "none",
        }
    if tab == "response":
        return {
            "outlook": outlook_words(view),
            "pressure to ask": f"{fraction(response.pressure)} of {fraction(response.asks_at)}",
            "loop": "no" if response.loops.current is None else "yes",
            "last response": plain(firing_words(response.last.method), 40) if response.last is not None else "none",
        }
    return {}


_LEAST = 12  # Cells of a reading below which it is left out rather than cut.
_TITLED = 64  # Width from which the tabs have a title before them.


class TabLine(Panel, can_focus=False):
    """The names of all tabs, and the most important readings of the open one."""

    DEFAULT_CSS = "TabLine { height: 2; border: none; &.-branches { height: 1; } }"

    def __init__(self, tab: str) -> None:
        super().__init__(classes=f"-{tab}")
        self._tab = tab

    def lines(self, view: View, width: int, height: int) -> list[Line]:  # noqa: ARG002
        tabs: Line = [("Model  ", "strong")] if width >= _TITLED else []
        for number, (name, title) in enumerate(TABS.items(), 1):
            text = f"[{number} {title}]" if name == self._tab else f" {number} {title} "
            tabs.append((text, "strong" if name == self._tab else "quiet"))
        readings: Line = []
        room = width
        for name, value in tab_readings(self._tab, view).items():
            if room >= len(name) + min(len(value), _LEAST) + 1:
                readings += [(f"{'  ' if readings else ''}{name} ", "quiet"), (value, "strong")]
            room -= len(name) + len(value) + 3
        return [clipped(tabs, width), clipped(readings, width)]


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
        yield TabLine(self.TAB).data_bind(Board.view)
        yield from super().body()


class MindScreen(ModelCards):
    """Clock, state, habits, balance, sleep, memory and spending."""

    TAB = "mind"
    AUTO_FOCUS = "CorticalCard"
    CARDS = MIND_CARDS


class GovernorScreen(ModelCards):
    """How far the governor would let the agent go."""

    TAB = "governor"
    AUTO_FOCUS = "GovernorCard"
    CARDS = GOVERNOR_CARDS


class AffectScreen(ModelCards):
    """The affect field: what moved it, what it changes, and how agents share it."""

    TAB = "affect"
    AUTO_FOCUS = "FieldCard"
    CARDS = AFFECT_CARDS


class ResponseScreen(ModelCards):
    """How the model responds: outlook, advice, memo and messages."""

    TAB = "response"
    AUTO_FOCUS = "OutlookCard"
    CARDS = RESPONSE_CARDS


class AgentsScreen(Board):
    """The list between status and timeline."""

    AUTO_FOCUS = "AgentList"
    DEFAULT_CSS = "AgentsScreen #agents { height: 1fr; }"

    def body(self) -> Iterable[Widget]:
        yield AgentList(id="agents").data_bind(AgentsScreen.view, AgentsScreen.recording)

    def on_select_agent(self, _: SelectAgent) -> None:
        """Close this screen; the app shows that agent on the screen below."""
        self.dismiss()


class ExtensionsScreen(CardBoard):
    """One card on all of them, then a card for each panel that somebody offers."""

    AUTO_FOCUS = "ExtensionCard"

    def cards(self) -> Sequence[Card]:
        kinds, complaints = installed_cards()
        for sentence in complaints:
            self.app.notify(sentence, severity="warning", markup=False)
        every: tuple[type[Card], ...] = (ExtensionCard, *kinds)
        return [make(id=f"card-{number}") for number, make in enumerate(every)]
