"""The fleet: all sessions of this machine, those that need you first."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from textual._path import CSSPathType
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.reactive import var
from textual.widgets import Input, Static

from core.live.fleet.row import STATUS_FILTERS, FleetRow, Order, listed
from core.live.hook_signs import HookBoard
from core.live.status import Limits
from core.logs.discovery import NO_SESSIONS
from core.report.sums import Budget, DaySpent
from core.settings import Settings
from core.store.bookmarks import Labels
from core.timeline.own_labels import events_at
from tui.feed.messages import AnswerPermit, CompareSessions, Failed, OpenSession, SessionsSeen
from tui.keys import PERMIT_KEYS, bind
from tui.screens.board import HEIGHTS, WIDTHS
from tui.screens.dialogs import judge_session, oldest_question, resume
from tui.widgets.common.key_line import EntryLine, KeyLine, LeftOnce
from tui.widgets.fleet.detail import fleet_title, session_detail, today_spent
from tui.widgets.fleet.fleet_table import FleetTable

_MORE = ("show.changes", "hand.resume", "words.hide", "find.words")  # Keys that the line shows if it has room.

_SPENT = 2.0  # Seconds between two sums of today's cost, to which every minute of every session counts.

# Keys that open the session under the cursor on one of its screens.
_OPENED = ("changes", "transcript", "tuning", "model", "recap", "agents")

# Keys that need a session in the list.
_OF_ROWS = frozenset(("open", "view", "fold", "bookmark.add", "search", "hand.resume", "words.hide")) | {
    *(f"part.{number}" for number in range(1, 7)),
    *(f"show.{name}" for name in _OPENED),
}


class FleetScreen(LeftOnce[None]):
    """A live table of sessions, and details of the selected one."""

    CSS_PATH: ClassVar[CSSPathType | None] = "fleet.tcss"
    AUTO_FOCUS = "FleetTable"
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    SHOWS_NO_SESSION: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("view", "next_view", "view", "List by project, need, cost … or with readings", show=True),
        *(
            bind(f"part.{number}", f"status({number})", title, f"List sessions: {title}", show=number == 2)
            for number, title in enumerate(STATUS_FILTERS, 1)
        ),
        bind("search", "filter", "filter", "Filter the list", show=True),
        bind("bookmark.add", "mark", "compare", "Mark two sessions to compare them", show=True),
        bind("fold", "fold", "at rest", "List sessions at rest, or fold them", show=True),
        bind("judge", "judge"),
        *(bind(f"show.{name}", f"open('{name}')", "", f"Open this session: {name}") for name in _OPENED),
        bind("hand.resume", "resume"),
        *PERMIT_KEYS,
        bind("back", "leave", "back", "Clear the filter, or go back", show=True),
        bind("show.fleet", "leave_screen", "back", "Back to the session"),
    ]

    order: var[Order] = var(Order(grouped=True))
    rows: var[tuple[FleetRow, ...]] = var(())
    now: var[float] = var(0.0)
    hooks: var[HookBoard] = var(HookBoard())
    words: var[bool] = var(True)  # What was asked and said is shown; the app's `words` decides.

    def __init__(self, settings: Settings, watch: Callable[[bool], object]) -> None:
        super().__init__()
        self._settings = settings
        self._watch = watch  # Called with whether all sessions are to be watched for this screen.
        self._arrived = time.monotonic()
        self._first = True
        self._returns = False  # Opened by going back: close it again if it is empty.
        self._seen: tuple[FleetRow, ...] = ()  # The rows from the logs alone.
        self._spent = DaySpent(("",), over=False)  # Today's cost, of so many sessions a short time ago.
        self._spent_at, self._read = float("-inf"), 0

    def compose(self) -> ComposeResult:
        fleet = self._settings.screen.fleet
        yield Static("nooscope fleet  looking for sessions…", id="title", markup=False)
        yield FleetTable(fleet.span, id="fleet").data_bind(FleetScreen.now, FleetScreen.order, FleetScreen.rows)
        yield Static("", id="detail", markup=False)
        yield Static(NO_SESSIONS, id="nothing", markup=False)
        yield EntryLine("agent, project, status or any word …", enter="to the list", escape="clear")
        yield KeyLine(_MORE)

    def on_mount(self) -> None:
        self._clock = self.set_interval(1.0, self._title, pause=not self.is_current)

    def on_screen_resume(self) -> None:
        self._arrived = time.monotonic()
        self._watch(True)
        self._clock.resume()

    def on_screen_suspend(self) -> None:
        self._watch(False)
        self._clock.pause()

    def on_resize(self) -> None:
        self._title()
        self._show_detail(self.query_one(FleetTable).chosen)

    def on_sessions_seen(self, message: SessionsSeen) -> None:
        """Show all sessions as they are now."""
        message.stop()
        self._arrived = time.monotonic()
        first, self._first = self._first, False
        with self.app.batch_update():
            self.now = message.now
            self._seen = message.rows
            self._lay_out()
            if first or self.has_class("-empty") is bool(message.rows):
                self.set_class(not message.rows, "-empty")
                self.refresh_bindings()
            self._title()
        if self._returns and not message.rows:
            self._go_back()
            return
        self._returns = False
        if message.rows and self.focused is None:
            self.call_after_refresh(self.query_one(FleetTable).focus)

    def watch_hooks(self) -> None:
        if self.is_mounted and not self._first:
            with self.app.batch_update():
                self._lay_out()
                self._title()

    def _lay_out(self) -> None:
        """Combine the rows of the logs with what hooks report."""
        limits, hooks = Limits.of(self._settings), self.hooks
        rows = tuple(row.with_hooks(hooks, self.now, limits) for row in self._seen)
        self.rows = rows if self.words else tuple(row.wordless() for row in rows)
        self.query_one(FleetTable).draw_rows()

    def watch_words(self) -> None:
        if self.is_mounted:
            self._lay_out()
            self._show_detail(self.query_one(FleetTable).chosen)

    def watch_order(self) -> None:
        if self.is_mounted:
            self._title()
            self.refresh_bindings()

    def on_fleet_table_moved(self, message: FleetTable.Moved) -> None:
        message.stop()
        self._show_detail(message.row)

    def on_fleet_table_chosen(self, message: FleetTable.Chosen) -> None:
        message.stop()
        self._open(message.row)

    def action_open(self, screen: str) -> None:
        """Open the session under the cursor on one of its screens."""
        if row := self._chosen_row():
            self._open(row, "mind" if screen == "model" else screen)

    @property
    def chosen_log(self) -> Path | None:
        """The log of the session under the cursor."""
        row = self.query_one(FleetTable).chosen
        return None if row is None else row.path

    def _chosen_row(self) -> FleetRow | None:
        """Return the row under the cursor; say so if there is none."""
        row = self.query_one(FleetTable).chosen
        if row is None:
            self.post_message(Failed("no session is listed here"))
        return row

    def on_input_changed(self, message: Input.Changed) -> None:
        self.order = self.order._replace(text=message.value)

    def on_input_submitted(self) -> None:
        self.query_one(FleetTable).focus()

    def action_next_view(self) -> None:
        """List them in the next order: by project, by need, by cost and so on."""
        self.order = self.order.next_view()

    def action_status(self, number: int) -> None:
        """List only sessions of one status; the same key again lists all."""
        if self._seen:
            chosen = 0 if number - 1 == self.order.status else number - 1
            self.order = self.order._replace(status=chosen)

    def action_mark(self) -> None:
        """Mark the session under the cursor; two marked sessions are compared."""
        row = self._chosen_row()
        if row is None:
            return
        marked = self.order.marked
        marked = tuple(key for key in marked if key != row.key) if row.key in marked else (*marked, row.key)
        self.order = self.order._replace(marked=marked if len(marked) < 2 else ())
        if len(marked) == 2:
            by_key = {each.key: each for each in self.rows}
            if all(key in by_key for key in marked):
                pair = [by_key[key] for key in marked]
                paths, ids = (str(row.path) for row in pair), (row.session for row in pair)
                self.post_message(CompareSessions(tuple(paths), tuple(ids)))
        else:
            self.notify("press b on a second session to compare them" if marked else "unmarked")

    def on_fleet_table_reordered(self, message: FleetTable.Reordered) -> None:
        message.stop()
        self.order = message.order

    def action_fold(self) -> None:
        order = self.order._replace(folded=not self.order.folded)
        if listed(self.rows, order) == listed(self.rows, self.order):
            self.post_message(Failed("all sessions at rest are listed already"))
        self.order = order

    def list_all(self) -> None:
        """List sessions at rest too."""
        self.order = self.order._replace(folded=False)

    def visit(self) -> None:
        """Close again if there is nothing to list and a session below."""
        self._returns = True
        if not self._first and not self._seen:
            self._go_back()

    def _go_back(self) -> None:
        self._returns = False
        if self.is_active and getattr(self.app, "view", None) is not None:
            self.dismiss()
            self.app.notify("no other session on this machine; q quits", markup=False)

    @property
    def idle_keys(self) -> frozenset[str]:
        """Keys that do nothing while the list is empty, or while there is nothing to go back to."""
        rows = _OF_ROWS if self.has_class("-empty") else frozenset()
        leads_back = self._sifted or getattr(self.app, "view", None) is not None
        return rows if leads_back else rows | {"back"}

    @property
    def key_names(self) -> Mapping[str, str]:
        """Return what escape does while a filter is on."""
        return {"back": "list all"} if self._sifted else {}

    @property
    def _sifted(self) -> bool:
        """Whether a filter is open or active; Escape clears it first."""
        return self.has_class("-filtering") or bool(self.order.status)

    def action_resume(self) -> None:
        if row := self._chosen_row():
            resume(self.app, row.agent, row.session, str(row.path), row.project)

    def action_judge(self) -> None:
        if row := self._chosen_row():
            judge_session(self.app, Labels(row.session), events_at(row.path, row.session, self._settings))

    def action_permit(self, choice: str) -> None:
        if not self.words:
            self.post_message(Failed("words are hidden: h shows what it asks, then answer"))
            return
        row = self.query_one(FleetTable).chosen
        self.post_message(AnswerPermit(choice, oldest_question(None if row is None else row.signs)))

    def action_filter(self) -> None:
        if self._seen:
            self.add_class("-filtering")
            self.refresh_bindings()
            self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Clear the filters first, then leave the screen, unless there is nothing below it."""
        if self._sifted:
            self.remove_class("-filtering")
            self.refresh_bindings()
            self.query_one(Input).value = ""
            self.order = self.order._replace(text="", status=0)
            self.query_one(FleetTable).focus()
        else:
            self.action_leave_screen()

    def action_leave_screen(self) -> None:
        if getattr(self.app, "view", None) is not None:
            self.dismiss()

    def _open(self, row: FleetRow, show: str = "") -> None:
        self.dismiss()
        self.app.post_message(OpenSession(row.path, row.status.level > 0, row.session, show=show))

    def _title(self) -> None:
        """Update the title; the clock may still call this while the screen closes."""
        if self._first:
            return
        now, read = time.monotonic(), sum(not row.status.reading for row in self.rows)
        if now - self._spent_at >= _SPENT or read != self._read:
            budget = Budget.of(getattr(self.app, "settings", self._settings).screen.cost)
            self._spent, self._spent_at, self._read = today_spent(self.rows, self.now, budget), now, read
        late, limits = now - self._arrived, self.hooks.limits
        for widget in self.query("#title").results(Static):
            width = widget.content_size.width
            title = fleet_title(self.rows, self.order, self.now, late, width, self._spent, limits)
            widget.update(title, layout=False)

    def _show_detail(self, row: FleetRow | None) -> None:
        for widget in self.query("#detail").results(Static):
            size = widget.content_size
            text = "" if row is None else session_detail(row, self.now, size.height, size.width, self.rows)
            widget.update(text, layout=False)
