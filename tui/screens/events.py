"""The log as it was read: every event, searchable, with the redacted line on demand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual._path import CSSPathType
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input

from core.events import ACTIONS, OUTCOMES
from core.report.event_words import KINDS, EventFilter, kind_of, outcome_of
from core.report.formatting import plain
from core.settings.screen import ScreenSettings
from tui.screens.board import Board
from tui.widgets.transcript.event_table import EventTable
from tui.widgets.transcript.passage import PassagePane

_KINDS = (*(action.replace("_", " ") for action in ACTIONS), *KINDS.values())


class EventsScreen(Board):
    """A table of all events, three filters, a search, and the line behind an event."""

    CSS_PATH: ClassVar[CSSPathType | None] = ["board.tcss", "events.tcss"]
    AUTO_FOCUS = "EventTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", id="events.search", tooltip="Only events with these letters"),
        Binding("w", "next('agent')", "who", id="events.agent", tooltip="Only one agent's events"),
        Binding("k", "next('kind')", "kind", id="events.kind", tooltip="Only one kind or action"),
        Binding("r", "next('outcome')", "result", id="events.outcome", tooltip="Only one outcome"),
        Binding(
            "W", "next('agent', -1)", "who", show=False, id="events.agent_back", tooltip="The agent before"
        ),
        Binding(
            "K", "next('kind', -1)", "kind", show=False, id="events.kind_back", tooltip="The kind before"
        ),
        Binding(
            "R",
            "next('outcome', -1)",
            "result",
            show=False,
            id="events.outcome_back",
            tooltip="The outcome before",
        ),
        Binding("x", "clear", "all", id="events.clear", tooltip="Every event again"),
        Binding("e", "leave", "back", show=False, id="events.leave", tooltip="Back to where you were"),
    ]

    chosen: reactive[EventFilter] = reactive(EventFilter())

    def __init__(self, path: str = "", settings: ScreenSettings | None = None) -> None:
        super().__init__(settings)
        self.set_reactive(EventsScreen.chosen, EventFilter(path=path))
        self._shown, self._total = 0, 0

    def body(self) -> Iterable[Widget]:
        table = EventTable(id="table").data_bind(EventsScreen.view, EventsScreen.recording)
        table.data_bind(EventsScreen.chosen)
        yield Container(table, PassagePane(id="passage"), id="log")
        yield Input(placeholder="tool, path, program, signal …", id="search", select_on_focus=False)

    def watch_chosen(self) -> None:
        self._caption()

    def _caption(self) -> None:
        """Say on the table's edge what is listed."""
        wanted = self.chosen
        parts = [
            wanted.path and f"below {wanted.path}",
            wanted.agent and f"agent {wanted.agent}",
            wanted.kind,
            wanted.outcome,
            wanted.text and f"“{wanted.text}”",
        ]
        said = " · ".join(plain(part, 40) for part in parts if part)
        for table in self.query(EventTable):
            listed = f"{self._shown:,} of {self._total:,}" if said else f"{self._total:,}"
            table.border_title = Content(f"Events  {listed}")
            table.border_subtitle = Content(f"only {said}") if said else None

    def on_event_table_listed(self, message: EventTable.Listed) -> None:
        self._shown, self._total = message.shown, message.total
        self._caption()

    def on_event_table_read(self, message: EventTable.Read) -> None:
        """Show the line; where it is shown already, close it."""
        pane = self.query_one(PassagePane)
        if self.has_class("-reading") and pane.place == message.place:
            self._close()
        else:
            self.add_class("-reading")
            pane.open(message.event, message.place)

    def on_event_table_moved(self, message: EventTable.Moved) -> None:
        if self.has_class("-reading") and self.recording is not None:
            self.query_one(PassagePane).open(self.recording.events[message.place], message.place)

    def _close(self) -> None:
        self.remove_class("-reading")
        self.query_one(EventTable).focus()

    def action_leave(self) -> None:
        if self.has_class("-searching"):
            self._end_search(keep=False)
        elif self.has_class("-reading"):
            self._close()
        else:
            self.dismiss()

    def action_next(self, name: str, by: int = 1) -> None:
        """The next value of one filter that some event has, then all again."""
        events = self.recording.events if self.recording is not None else []
        values: tuple[str, ...] = self.view.agents if self.view is not None else ()
        if name != "agent":
            kinds, read = (_KINDS, kind_of) if name == "kind" else (OUTCOMES, outcome_of)
            found = {read(event) for event in events}
            values = tuple(value for value in kinds if value in found)
        choices = ("", *values)
        now = getattr(self.chosen, name)
        place = choices.index(now) if now in choices else 0
        self.chosen = self.chosen._replace(**{name: choices[(place + by) % len(choices)]})

    def action_clear(self) -> None:
        self.query_one("#search", Input).value = ""
        self.chosen = EventFilter()

    def action_search(self) -> None:
        self.add_class("-searching")
        self.query_one("#search", Input).focus()

    def _end_search(self, *, keep: bool) -> None:
        if not keep:
            self.query_one("#search", Input).value = ""
            self.chosen = self.chosen._replace(text="")
        self.remove_class("-searching")
        self.query_one(EventTable).focus()

    @on(Input.Changed, "#search")
    def _search(self, event: Input.Changed) -> None:
        self.chosen = self.chosen._replace(text=event.value.strip())

    @on(Input.Submitted, "#search")
    def _searched(self) -> None:
        self._end_search(keep=True)
