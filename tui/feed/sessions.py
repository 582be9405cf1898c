"""Opening a session for the screen, and all others beside it: who needs you, who works here, what today costs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.app import App

from core.folders import own_folder, private_file
from core.live.hook_signs import HookBoard
from core.live.status import Limits
from core.report.formatting import count
from core.report.sums import DaySpent
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.run_inputs import InitialStates
from tui.feed.feed import Feed
from tui.feed.messages import DayReckoned, SessionsSeen
from tui.feed.view import View

if TYPE_CHECKING:
    from textual.message import Message

    from core.extension.hooks import Extension
    from core.hooks.link import IntakeLink
    from core.live.fleet.roster import FleetWatch, Roster, Scope
    from core.live.fleet.row import FleetRow
    from core.live.notices import Notifier
    from core.live.source import Target
    from core.store.carry_over import CarryOverStore
    from core.timeline.initial_state import ConfiguredStart
    from core.timeline.opening import Cache


OTHERS_AFTER = 1.0  # Seconds after which other sessions are looked for, so that the first picture comes first.

DAY_EVERY = 60.0  # Seconds between two sums.


class DayBudget:
    """Holds today's last sum, or None if no budget is set."""

    def __init__(self, app: App[Any], *, watching: bool) -> None:
        self._app = app
        self._watching = watching
        self.spent: DaySpent | None = None

    def reckon(self, settings: Settings) -> None:
        """Add up the cost in a thread; the app gets it as a message."""
        if not (self._watching and settings.screen.cost.budget):
            self.spent = None
            return

        def work() -> None:
            from core.live.fleet.member import day_cost

            self._app.post_message(DayReckoned(day_cost(settings, time.time())))

        self._app.run_worker(work, name="day", group="day", thread=True, exclusive=True)

    def shown_in(self, view: View) -> View:
        """A view that shows the sum."""
        return view if self.spent is None else replace(view, day=self.spent)


class OtherSessions:
    """Watches all recent sessions in one thread, and knows those not on the screen."""

    def __init__(
        self, app: App[Any], settings: Settings, roster: Roster | None, initial_states: Callable[[], InitialStates]
    ) -> None:
        self._app = app
        self._settings = settings
        self._roster = roster
        self._initial_states = initial_states
        self._watch: FleetWatch | None = None
        self._limits = Limits.of(settings)
        self._rows: tuple[FleetRow, ...] = ()
        self._now = 0.0

    def begin(self) -> None:
        """Watch from now on, unless the fleet does already."""
        if self._watch is None:
            self.start("needing")

    def start(self, scope: Scope) -> None:
        """Search at once and watch until stopped."""
        from core.live.fleet.roster import FleetWatch, Roster

        if self._watch is None:
            roster = self._roster or Roster(self._settings, os.environ, Path.home())
            roster.initial_states = self._initial_states()
            self._watch = FleetWatch(roster, lambda rows, now: self._app.post_message(SessionsSeen(rows, now)))
        self._watch.stop()
        self._watch.start(scope)

    def stop(self) -> None:
        """Let the thread end."""
        if self._watch is not None:
            self._watch.stop()

    def take(self, rows: Sequence[FleetRow], now: float) -> None:
        """Store all sessions' statuses at a moment, and let the next ones come."""
        self._rows, self._now = tuple(rows), now
        if self._watch is not None:
            self._watch.mark_shown()

    def needing(self, view: View | None, board: HookBoard) -> list[FleetRow]:
        """Return the other sessions that need the person, the longest wait first."""
        return [row for row in self._needing(board) if self._is_other(row, view)]

    def next_needing(self, view: View | None, board: HookBoard) -> FleetRow | None:
        """Return the session after the one on the screen among those that need the person, in a circle."""
        needing = self._needing(board)
        places = [number for number, row in enumerate(needing) if not self._is_other(row, view)]
        others = needing[places[0] + 1 :] + needing[: places[0]] if places else needing
        return others[0] if others else None

    def _needing(self, board: HookBoard) -> list[FleetRow]:
        rows = [row.with_hooks(board, self._now, self._limits) for row in self._rows]
        needing = [row for row in rows if row.status.level == 3 and not row.status.stale]
        return sorted(needing, key=lambda row: row.status.urgency)

    def is_live(self, path: Path, session: str) -> bool:
        """Whether a session is not at rest, as the fleet sees it; without an id, any session of the log."""
        rows = (row for row in self._rows if row.path == path and session in ("", row.session))
        return any(row.status.level > 0 for row in rows)

    def newer(self, view: View | None) -> FleetRow | None:
        """A session that works in the same folder while the one on the screen rests."""
        if view is None or view.status is None or not view.status.at_rest or not view.subject.project:
            return None
        active = ("working", "looping", "stuck", "needs you", "may need you")
        later = [row for row in self._rows if row.facts.heard > view.end and row.status.word in active]
        here = [row for row in later if row.project == view.subject.project and self._is_other(row, view)]
        return max(here, key=lambda row: row.facts.heard, default=None)

    def shown_in(self, view: View, board: HookBoard) -> View:
        """Return a view with the number of others that need the person, and the one that works here now."""
        newer = self.newer(view) if view.mode == "live" else None
        newcomer = "" if newer is None else f"{newer.agent} {newer.status.word}"
        return replace(view, others=len(self.needing(view, board)), newer=newcomer)

    @staticmethod
    def _is_other(row: FleetRow, view: View | None) -> bool:
        return view is None or (row.session != view.subject.session and row.path not in view.logs)


_FAULTS = 3  # Faults of files shown one by one; a heap of them would cover what stands.


def is_first_session() -> bool:
    """Return whether no session was opened on the screen before, and remember that one is."""
    flag = own_folder("data") / "opened"
    if flag.exists():
        return False
    try:
        private_file(flag)
    except OSError:
        return False
    return True


@dataclass
class Opening:
    """Policy and rules, what other sessions left, hooks and extensions, each looked up when one opens."""

    complain: Callable[[str], object]
    cache: Cache | None
    bookmarks: Callable[[str], Bookmarks]
    begin: Callable[[], ConfiguredStart] | None
    carry_over: CarryOverStore | None
    edits: Mapping[str, Any] | None
    link: IntakeLink | None
    _complaints: set[str] = field(default_factory=set)  # What is wrong with extensions, each told once.
    _faults: tuple[str, ...] = ()  # What was last wrong with policies and rules.

    def feed(
        self,
        target: Target,
        settings: Settings,
        post: Callable[[Message], object],
        notifier: Notifier | None,
        *,
        play: bool = True,
    ) -> Feed:
        """The feed of one session; one with a notifier also takes from other sessions and leaves to them."""
        initial = self._initial()
        carry_over = None
        if notifier is not None:
            from core.live.carry_over import CarryOver

            carry_over = CarryOver(settings, initial=initial, use=settings.response.prior.enabled)
        return Feed(
            target,
            settings,
            post,
            cache=self.cache,
            bookmarks=self.bookmarks,
            carry_over=carry_over,
            notifier=notifier,
            initial_states=self._states(settings, initial),
            hooks=None if self.link is None else self.link.signs,
            extensions=() if notifier is None else self._listeners(),
            play=play,
        )

    def initial_states(self, settings: Settings) -> InitialStates:
        """Return the initial state of each session."""
        return self._states(settings, self._initial())

    def _states(self, settings: Settings, initial: InitialState) -> InitialStates:
        return InitialStates(settings, initial, edits=self.edits or {}, store=self.carry_over)

    def _listeners(self) -> list[Extension]:
        """Return the extensions for a live session; problems with others are reported once."""
        from core.extension.registry import listening

        listeners, complaints = listening()
        for sentence in complaints:
            if sentence not in self._complaints:
                self._complaints.add(sentence)
                self.complain(sentence)
        return listeners

    def _initial(self) -> InitialState:
        """Return the policy and rules for a new session; new faults in their files are reported."""
        if self.begin is None:
            return PLAIN
        initial, faults = self.begin()
        fresh = [fault for fault in faults if fault not in self._faults]
        for fault in fresh[:_FAULTS]:
            self.complain(fault)
        if len(fresh) > _FAULTS:
            left = count(len(fresh) - _FAULTS, "more fault")
            self.complain(f"{left} in rules and policies; `nooscope tune rules` lists them")
        self._faults = faults
        return initial
