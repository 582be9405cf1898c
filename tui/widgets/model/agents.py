"""Every agent of a session in two lines, and the extensions in use."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec.structs import replace
from textual.binding import BindingType
from textual.events import Click

from core.agents.words import NOTHING, WordReader, Words, first_line
from core.engine.society import AgentReading
from core.events import MAIN, Event
from core.extension.hooks import FAULTS
from core.extension.offers import Switches, find_offers, in_use
from core.live.status import Status
from core.report.agents import AgentLedger, AgentOverview
from core.report.event_words import OUTCOME_SIGNS, tool_words
from core.report.formatting import count, money, plain, span
from tui.draw.line import Line, first_fit, fit, tree_guides
from tui.feed.messages import SelectAgent
from tui.feed.view import View, names_of, running_agents
from tui.keys import bind
from tui.widgets.common.card import Card, heading, pair, sentence_lines
from tui.widgets.common.panel import CursorPanel

_EACH = 3  # Lines of an agent, the empty one between two included.
_TASK = 8  # Cells of a task for which figures give way.


class AgentList(CursorPanel):
    """A tree of agents with a cursor; enter shows the session as that agent sees it."""

    TITLE: ClassVar[str] = "Agents"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "choose", "", "Look at this agent on every screen", show=True),
        bind("row.up", "move(-1)", "", "The previous agent"),
        bind("row.down", "move(1)", "", "The next agent"),
        bind("play.start", "move(-100000)", "", "The main agent"),
        bind("play.end", "move(100000)", "", "The last agent"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._ledger: AgentLedger | None = None
        self._reader = WordReader(())
        self._known: dict[int, tuple[Event, Words]] = {}
        self._cursor = ""
        self._top = 0

    @property
    def chosen(self) -> str:
        """The agent under the cursor."""
        return self._cursor

    def watch_recording(self) -> None:
        self._ledger = None if self.recording is None else AgentLedger(self.recording.events)
        self._known.clear()
        self.redraw()

    def subtitle(self, view: View) -> str:
        return f"{running_agents(view)} of {count(len(view.people.agents), 'agent')} working"

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        agents = view.people.agents
        names = [agent.name for agent in agents]
        if self._cursor not in names:
            self._cursor = view.agent if view.agent in names else MAIN
        here = names.index(self._cursor) if self._cursor in names else 0
        rows = max(1, (height + 1) // _EACH)
        self._top = max(0, min(max(self._top, here - rows + 1), here, len(agents) - rows))
        summaries = {} if self._ledger is None else self._ledger.at(view.index)
        called = names_of(view)
        guides = tree_guides([agent.depth for agent in agents])
        lines: list[Line] = []
        for place in range(self._top, min(len(agents), self._top + rows)):
            agent = agents[place]
            summary = summaries.get(agent.name, AgentOverview())
            name = "main agent" if agent.name == MAIN else called.get(agent.name, plain(agent.name, 20))
            lines += self._rows(agent, name, summary, guides[place], view, width, place == here)
        if len(agents) == 1:
            lines.append([("No sub-agents so far.", "quiet")])
        return lines

    def _rows(
        self, agent: AgentReading, name: str, summary: AgentOverview, guide: str, view: View, width: int, here: bool
    ) -> list[Line]:
        status = _standing(agent, view.status)
        sign, ink = agent_sign(agent, status)
        untold = "its task is not in the log" if view.words else "its task is hidden: h shows it"
        task = first_line(self._words(summary.task, view).said) or untold
        left = width - len(guide) - 2 - len(name) - 2 - 2
        right = first_fit(_agent_figures(agent, summary, view.at, status), left - _TASK)
        room = max(0, left - len(right))
        title: Line = [(guide, "baseline"), (f"{sign} ", ink), (plain(name), "strong"), ("  ", "plain")]
        first: Line = [*title, (fit(plain(task), room), "plain"), (f"  {right}", "quiet")]
        if here:
            first = [(text, "cursor" if self.has_focus else ink) for text, ink in first]
        indent = " " * (len(guide) + 2)
        return [first, [(indent, "plain"), *self._last(summary, view, width - len(indent))], []]

    def _last(self, summary: AgentOverview, view: View, room: int) -> Line:
        call = summary.last
        if call is None:
            return [("no call yet", "quiet")]
        sign, ink = OUTCOME_SIGNS.get(call.outcome, ("", "quiet"))
        done = first_line(self._words(call, view).command) or " ".join(call.targets[:2]) or call.program
        when = f"{span(max(0.0, view.at - call.at))} ago"
        words = fit(f"{plain(tool_words(call.tool))}  {plain(done)}", max(4, room - len(when) - 4))
        return [(f"{sign} ", ink), (words, "plain"), (f"  {when}", "quiet")]

    def _words(self, event: Event | None, view: View) -> Words:
        """The words of an event, read once, and only while words are shown."""
        if event is None or not view.words:
            return NOTHING
        if self._reader.logs != view.word_logs:
            self._reader = WordReader(view.word_logs)
            self._known.clear()
        cached = self._known.get(id(event))
        if cached is None or cached[0] is not event:
            cached = self._known[id(event)] = event, self._reader.words(event)
        return cached[1]

    def action_move(self, by: int) -> None:
        """Choose another agent."""
        if self.view is not None:
            names = [agent.name for agent in self.view.people.agents]
            here = names.index(self._cursor) if self._cursor in names else 0
            self._cursor = names[max(0, min(here + by, len(names) - 1))]
            self.redraw()

    def action_choose(self) -> None:
        """Show the agent under the cursor."""
        if self._cursor:
            self.post_message(SelectAgent(self._cursor))

    def on_click(self, event: Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and self.view is not None:
            place = self._top + at.y // _EACH
            if place < len(self.view.people.agents):
                self._cursor = self.view.people.agents[place].name
                self.redraw()
                if event.chain == 2:
                    self.action_choose()


def _standing(agent: AgentReading, session: Status | None) -> Status | None:
    """The session's status on the row of whom it is about; None where the agent's own end says all."""
    if session is None or session.agent == agent.name:
        return session
    if agent.name == MAIN:
        return replace(session, word="working", level=1)
    return replace(session, word="ended", level=0) if session.at_rest and agent.ended is None else None


def agent_sign(agent: AgentReading, status: Status | None) -> tuple[str, str]:
    if agent.quarantined:
        return "▣", "alert"
    if status is not None:
        return status.glyph, ("quiet", "live", "strong", "alert")[status.level]
    if agent.ended is None:
        return "●", "live"
    return ("✓", "confidence") if agent.outcome == "success" else ("✗", "frustration")


def _agent_figures(
    agent: AgentReading, summary: AgentOverview, at: float, status: Status | None
) -> tuple[str, str, str]:
    """Return an agent's status, working time, cost and failures; then shorter forms."""
    lasted = "" if agent.started is None else span(max(0.0, (agent.ended or at) - agent.started))
    word = "working" if agent.ended is None else "done" if agent.outcome == "success" else "failed"
    if status is not None:
        word = status.word
    cost = summary.cost
    amount = money(cost.dollars, cost.priced, cost.unpriced).replace("at least ", "≥")
    cost_text = amount if cost.priced else "cost unknown" if cost.unpriced else ""
    failed = f"{summary.failures}/{summary.calls} failed" if summary.calls else ""
    tries = ((f"{word} {lasted}".strip(), cost_text, failed), (word, failed), (word,))
    most, fewer, least = ("  ".join(part for part in parts if part) for parts in tries)
    return most, fewer, least


class ExtensionCard(Card):
    """Everyone who listens to this session, in the order they run, with their faults and drops."""

    TITLE: ClassVar[str] = "Extensions"
    TALL: ClassVar[tuple[int, int]] = (12, 20)

    def brief(self, view: View, width: int) -> list[Line]:
        lines: list[Line] = []
        for one in view.extensions:
            state = "" if one.on else "switched off"
            words = f"{count(one.faults, 'fault')}" if one.faults else "layer " + str(one.layer)
            ink = "plain" if one.on and not one.faults else "alert"
            lines.append(pair(plain(one.name, 30), state or words, width, ink=ink))
            if one.last:
                lines += sentence_lines(f"  {plain(one.last, 120)}", width)
        if not lines:
            lines.append([("extensions do not run during replay", "quiet")])
        for reader in view.bus:
            dropped = f"{reader.dropped:,} dropped" if reader.dropped else f"{reader.taken:,} taken"
            ink = "alert" if reader.dropped else "plain"
            lines.append(pair(f"bus: {plain(reader.name, 24)}", dropped, width, ink=ink))
        return [*lines, [], *_offered(width)]


def _offered(width: int) -> list[Line]:
    offers, off = find_offers(), Switches().off()
    if not offers.offers:
        return sentence_lines("none installed; docs/extending.md shows how to write one", width)
    lines: list[Line] = [heading("installed")]
    for offer in offers.offers:
        state = "off" if offer.key in off or "*" in off else offer.kind
        lines.append(pair(plain(offer.name, 30), state, width, ink="quiet" if state == "off" else "plain"))
    for complaint in offers.complaints:
        lines += sentence_lines(plain(complaint, 200), width, "alert")
    return lines


def _fits(value: Any) -> str:
    if not (isinstance(value, type) and issubclass(value, Card)):
        return "it is not a subclass of tui.widgets.common.card.Card"
    return ""


def installed_cards() -> tuple[list[type[Card]], tuple[str, ...]]:
    """Panels of installed extensions, each so that it cannot harm the rest; and what is wrong with others."""
    offers = in_use("panel", _fits)
    return [guarded_card(one.offer.name, one.value) for one in offers.used], offers.complaints


def guarded_card(name: str, kind: type[Card]) -> type[Card]:
    """Return the panel with its errors shown in its place; after a few errors it is no longer called."""

    class Guarded(kind):  # type: ignore[valid-type, misc]
        """A panel that may fail."""

        faults = 0
        trouble = ""

        def brief(self, view: View, width: int) -> list[Line]:
            return self._guarded("brief", view, width)

        def more(self, view: View, width: int) -> list[Line]:
            return self._guarded("more", view, width)

        def subtitle(self, view: View) -> str | None:
            if self.faults >= FAULTS:
                return None
            try:
                text = super().subtitle(view)
                return text if text is None else plain(str(text), 60)
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(fault)
                return None

        def _guarded(self, hook: str, view: View, width: int) -> list[Line]:
            if self.faults < FAULTS:
                try:
                    lines = getattr(super(), hook)(view, width)
                    return [[(plain(str(text), 500), str(ink)) for text, ink in line] for line in lines]
                except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                    self._failed(fault)
            end = "; it is switched off until nooscope restarts" if self.faults >= FAULTS else ""
            return sentence_lines(f"the extension {name} failed ({self.trouble}){end}", width, "alert")

        def _failed(self, fault: Exception) -> None:
            self.faults += 1
            self.trouble = plain(f"{type(fault).__name__}: {fault}", 120)

    Guarded.__name__ = Guarded.__qualname__ = kind.__name__
    return Guarded
