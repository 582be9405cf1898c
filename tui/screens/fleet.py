"""The fleet: all sessions of this machine at one glance, who needs a person first."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual._path import CSSPathType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import var
from textual.widgets import Input, Static

from core.live.fleet.order import SORTINGS, Order, listed
from core.live.fleet.roster import FleetWatch, Roster
from core.live.fleet.row import FleetRow
from core.live.hook_signs import HookBoard
from core.live.status import Limits
from core.report.sums import Budget
from core.settings import Settings
from core.timeline.run_inputs import InitialStates
from tui.feed.messages import AnswerPermit, Failed, OpenSession
from tui.screens.at_hand import copy_resume, show_pane
from tui.screens.breakpoints import HEIGHTS, WIDTHS
from tui.widgets.common.entry_line import EntryLine
from tui.widgets.common.key_line import KeyLine, permit_bindings
from tui.widgets.common.leaving import LeftOnce
from tui.widgets.fleet.detail import fleet_title, session_detail
from tui.widgets.fleet.fleet_table import FleetTable

_NOTHING = """\
No sessions found on this machine.

nooscope reads what coding agents write to disk by themselves: Claude Code, Codex, Gemini CLI, OpenCode, pi, \
Copilot CLI, OpenHands and others, in their usual places. Run one of them once, and it appears here; or:

  nooscope watch PATH     follow a log live, also before it exists
  nooscope replay PATH    play it from the start
  nooscope demo           see a sample session\
"""

_OF_ONE = "space,left,right,shift+left,shift+right,comma,full_stop,n,N,b,g,a,A,plus,minus,t,e,m,c"
"""Keys that belong to the one session below this screen."""


_MORE = ("fleet.resume", "fleet.pane", "fleet.watch", "fleet.words", "find.words", "quit")
"""Keys that the line shows where it has room."""

_OF_ROWS = frozenset(
    f"fleet.{name}"
    for name in ("open", "sort", "group", "axes", "fold", "resume", "pane", "urgent", "filter", "watch")
) | {"fleet.replay", "fleet.words"}
"""Keys that need a session in the list."""

_BY_READING = ("frustration", "tokens", "agent")
"""Sort orders whose column stands among the axes."""


class FleetScreen(LeftOnce[None]):
    """A table that keeps itself up to date, and a word about the session under the cursor."""

    CSS_PATH: ClassVar[CSSPathType | None] = "fleet.tcss"
    AUTO_FOCUS = "FleetTable"
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort(1)", "sort", id="fleet.sort", tooltip="Sort by something else"),
        Binding(
            "S", "sort(-1)", "sort back", show=False, id="fleet.sort_back", tooltip="The previous sort order"
        ),
        Binding("p", "group", "projects", id="fleet.group", tooltip="Group by project, or not"),
        Binding(
            "x", "axes", "axes", id="fleet.axes", tooltip="What their minds read, or what they are about"
        ),
        Binding(
            "h,o", "fold", "all", key_display="h", id="fleet.fold", tooltip="List sessions at rest, or not"
        ),
        Binding(
            "H",
            "app.words",
            "hide words",
            show=False,
            id="fleet.words",
            tooltip="Hide all words, or show them",
        ),
        Binding(
            "R", "resume", "resume", show=False, id="fleet.resume", tooltip="Copy the command that resumes it"
        ),
        *permit_bindings("fleet"),
        Binding("J", "pane", "pane", show=False, id="fleet.pane", tooltip="Go to its pane of tmux"),
        Binding("u", "urgent", "urgent", id="fleet.urgent", tooltip="Only those worth a look, or all"),
        Binding("slash", "filter", "filter", key_display="/", id="fleet.filter", tooltip="Filter the list"),
        Binding("w", "open(True)", "watch", show=False, id="fleet.watch", tooltip="Open it, following live"),
        Binding("r", "open(False)", "replay", id="fleet.replay", tooltip="Open it, playing from the start"),
        Binding("escape", "leave", "back", id="fleet.leave", tooltip="All sessions again, or back"),
        Binding("f", "leave_screen", "back", show=False, id="fleet.back", tooltip="Back to the session"),
        Binding(
            _OF_ONE, "nothing", "", show=False, id="fleet.none", tooltip="No effect: no session is open here"
        ),
    ]

    order: var[Order] = var(Order())
    rows: var[tuple[FleetRow, ...]] = var(())
    now: var[float] = var(0.0)
    hooks: var[HookBoard] = var(HookBoard())
    words: var[bool] = var(True)
    """What was asked and said is shown; the app's `words` decides."""

    @dataclass
    class Seen(Message):
        """From the watch: how everyone stands."""

        rows: tuple[FleetRow, ...]
        now: float

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, FleetScreen.Seen)

    def __init__(
        self, settings: Settings, roster: Roster | None = None, initial_states: InitialStates | None = None
    ) -> None:
        super().__init__()
        self._settings = settings
        self._roster = Roster(settings, os.environ, Path.home()) if roster is None else roster
        self._roster.initial_states = initial_states or InitialStates(settings)
        self._roster.list_older = True
        self._watch = FleetWatch(self._roster, lambda rows, now: self.post_message(self.Seen(rows, now)))
        self._arrived = time.monotonic()
        self._first = True
        self._returns = False
        """It was not asked for by its name: where it is empty it is left again."""
        self._seen: tuple[FleetRow, ...] = ()
        """The rows as the logs tell them."""

    def compose(self) -> ComposeResult:
        fleet = self._settings.screen.fleet
        yield Static("nooscope fleet  looking for sessions…", id="title", markup=False)
        yield FleetTable(fleet.span, id="fleet").data_bind(
            FleetScreen.now, FleetScreen.order, FleetScreen.rows
        )
        yield Static("", id="detail", markup=False)
        yield Static(_NOTHING, id="nothing", markup=False)
        yield EntryLine("agent, project, state, word …", enter="to the list", escape="clear")
        yield KeyLine(_MORE)

    def on_mount(self) -> None:
        self._clock = self.set_interval(1.0, self._title, pause=not self.is_current)

    def on_screen_resume(self) -> None:
        self._arrived = time.monotonic()
        self._watch.start()
        self._clock.resume()

    def on_screen_suspend(self) -> None:
        self._watch.stop()
        self._clock.pause()

    @property
    def clock_runs(self) -> bool:
        """Whether the title is told anew every second: only while it is seen."""
        return self._clock._active.is_set()

    def on_unmount(self) -> None:
        self._watch.stop()

    def on_resize(self) -> None:
        self._title()
        self._detail(self.query_one(FleetTable).chosen)

    def on_fleet_screen_seen(self, message: Seen) -> None:
        self._arrived = time.monotonic()
        self._first = False
        with self.app.batch_update():
            self.now = message.now
            self._seen = message.rows
            self._lay_out()
            self.set_class(not message.rows, "-empty")
            self._title()
        self.refresh_bindings()
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
        """The rows as the logs and the hooks together tell them."""
        limits, told = Limits.of(self._settings), self.hooks
        rows = tuple(row.hooked(told.of(row.session), self.now, limits) for row in self._seen)
        self.rows = rows if self.words else tuple(row.wordless() for row in rows)

    def watch_words(self) -> None:
        if self.is_mounted:
            self._lay_out()
            self._detail(self.query_one(FleetTable).chosen)

    def watch_order(self) -> None:
        if self.is_mounted:
            self._title()
            self.refresh_bindings()

    def on_fleet_table_moved(self, message: FleetTable.Moved) -> None:
        message.stop()
        self._detail(message.row)

    def on_fleet_table_chosen(self, message: FleetTable.Chosen) -> None:
        message.stop()
        self._open(message.row, live=message.row.status.level > 0)

    def on_input_changed(self, message: Input.Changed) -> None:
        self.order = self.order._replace(text=message.value)

    def on_input_submitted(self) -> None:
        self.query_one(FleetTable).focus()

    def action_sort(self, by: int) -> None:
        place = SORTINGS.index(self.order.sorting) + by
        sorting = SORTINGS[place % len(SORTINGS)]
        self.order = self.order._replace(sorting=sorting, axes=sorting in _BY_READING)

    def on_fleet_table_sorted_by(self, message: FleetTable.SortedBy) -> None:
        message.stop()
        self.order = self.order._replace(sorting=message.sorting)

    def on_fleet_table_unfold(self, message: FleetTable.Unfold) -> None:
        message.stop()
        self.list_all()

    def action_group(self) -> None:
        self.order = self.order._replace(grouped=not self.order.grouped)

    def action_urgent(self) -> None:
        if self._seen:
            self.order = self.order._replace(urgent=not self.order.urgent)

    def action_axes(self) -> None:
        self.order = self.order._replace(axes=not self.order.axes)

    def action_fold(self) -> None:
        self.order = self.order._replace(folded=not self.order.folded)

    def list_all(self) -> None:
        """List sessions at rest too."""
        self.order = self.order._replace(folded=False)

    def visit(self) -> None:
        """Be left again where there is nothing to list and a session lies below."""
        self._returns = True
        if not self._first and not self._seen:
            self._go_back()

    def _go_back(self) -> None:
        self._returns = False
        if self.is_active and getattr(self.app, "view", None) is not None:
            self.dismiss()
            self.app.notify("no session was found on this machine: q leaves nooscope", markup=False)

    @property
    def idle_keys(self) -> frozenset[str]:
        """Keys that do nothing while the list is empty, or while there is nothing to go back to."""
        rows = _OF_ROWS if self.has_class("-empty") else frozenset()
        leads_back = self._sifted or getattr(self.app, "view", None) is not None
        return rows if leads_back else rows | {"fleet.leave"}

    @property
    def key_names(self) -> Mapping[str, str]:
        """What escape does while only some sessions are listed."""
        return {"fleet.leave": "list all"} if self._sifted else {}

    @property
    def _sifted(self) -> bool:
        """A filter is open or holds, which escape takes away first."""
        return self.has_class("-filtering") or self.order.urgent

    def action_resume(self) -> None:
        row = self.query_one(FleetTable).chosen
        if row is not None:
            copy_resume(self.app, row.agent, row.session, str(row.path), row.project)

    def action_permit(self, choice: str) -> None:
        if not self.words:
            self.post_message(Failed("words are hidden: H shows what it asks, then answer"))
            return
        row = self.query_one(FleetTable).chosen
        waits = row.signs.questions if row is not None and row.signs is not None else ()
        first = min(waits, key=lambda one: (one.late, one.number), default=None)
        self.post_message(AnswerPermit(choice, first))

    def action_pane(self) -> None:
        row = self.query_one(FleetTable).chosen
        if row is not None:
            show_pane(self.app, row.agent, row.project)

    def action_filter(self) -> None:
        if self._seen:
            self.add_class("-filtering")
            self.query_one(Input).focus()

    def action_open(self, live: bool) -> None:
        row = self.query_one(FleetTable).chosen
        if row is not None:
            self._open(row, live=live)

    def action_leave(self) -> None:
        """Clear the filters first, then leave the screen, unless there is nothing below it."""
        if self._sifted:
            self.remove_class("-filtering")
            self.query_one(Input).value = ""
            self.order = self.order._replace(text="", urgent=False)
            self.query_one(FleetTable).focus()
        else:
            self.action_leave_screen()

    def action_leave_screen(self) -> None:
        if getattr(self.app, "view", None) is not None:
            self.dismiss()

    def next_in_need(self, path: str) -> FleetRow | None:
        """The session after this one that needs a person, as last seen; the first where this one does not."""
        needing = [row for row in listed(self.rows, Order(folded=False)) if isinstance(row, FleetRow)]
        needing = [row for row in needing if row.status.level == 3]
        places = [number for number, row in enumerate(needing) if str(row.path) == path]
        others = needing[places[0] + 1 :] + needing[: places[0]] if places else needing
        return others[0] if others else None

    def action_nothing(self) -> None:
        """Keys of a single session do nothing here."""

    def _open(self, row: FleetRow, *, live: bool) -> None:
        self.dismiss()
        self.app.post_message(OpenSession(row.path, live, row.session))

    def _title(self) -> None:
        """Say how all of them stand; the clock may still ask for it while the screen is being taken away."""
        if self._first:
            return
        late = time.monotonic() - self._arrived
        budget = Budget.of(getattr(self.app, "settings", self._settings).screen.cost)
        for widget in self.query("#title").results(Static):
            widget.update(
                fleet_title(
                    self.rows,
                    self.order,
                    self.now,
                    late,
                    widget.content_size.width,
                    budget,
                    self.hooks.limits,
                ),
                layout=False,
            )

    def _detail(self, row: FleetRow | None) -> None:
        widget = self.query_one("#detail", Static)
        size = widget.content_size
        if row is None:
            widget.update("", layout=False)
        else:
            widget.update(session_detail(row, self.now, size.height, size.width), layout=False)
