"""The sessions of the fleet: which are awake, what is read next, and the thread that reads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

from core.agents.registry import known_agents, make_kit
from core.errors import UnreadableLog
from core.live.fleet.member import Member, listing_key, unread_row
from core.live.fleet.row import FleetRow, KeptRows
from core.live.status import Limits
from core.logs.discovery import Found, describe_sessions, find
from core.logs.finder import Finder
from core.logs.follow import file_changes
from core.logs.format import Agent, Diagnostics, roots
from core.logs.log_files import is_folder, is_there
from core.logs.records import Log
from core.settings import Settings
from core.timeline.run_inputs import InitialStates

# Only sessions that may still need somebody, all recent ones, or also unread those that changed too long ago.
Scope = Literal["needing", "recent", "all"]

_SLICE = 200  # Events read of one session before the next has its turn.
_LINES = ".jsonl"  # How logs are called that a fork may repeat.
# Up to so many followed sessions every picture shows all that is new of each; any more delay all but its status.
_FEW, _EACH = 20, 0.02
_OLDER = 2_000  # Sessions listed at most beside those that are followed.
# Why a place gives no sessions where nothing is wrong with it.
_BLANK = ("empty", "a folder without logs", "no log matches")
_FOREIGN = 10_000  # Files remembered that belong to no session.


class Roster:
    """The sessions of this machine, or of some paths, that are active or recent. One thread at a time."""

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        home: Path,
        *,
        paths: Sequence[Path] = (),
        agents: tuple[Agent, ...] | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self.initial_states = InitialStates(settings)  # Where every session starts.
        self.wall = wall
        self.scope: Scope = "recent"
        self._older: tuple[FleetRow, ...] = ()
        self.unread: tuple[str, ...] = ()  # Files that are not logs or cannot be opened, and why.
        self.lacking = True  # A file changed that belongs to no session yet.
        self._environment = environment
        self._home = home
        self._paths = list(paths)
        self._agents = known_agents() if agents is None else agents
        self._kit = make_kit(settings.ingest)
        self._faults = Diagnostics()
        self._finder = Finder(self._kit.counting(self._faults), settings.ingest.lines)
        self._members: dict[str, Member] = {}
        self._foreign: set[Path] = set()
        self._kept: KeptRows | None = None

    @property
    def folders(self) -> list[Path]:
        """Where sessions may appear."""
        if self._paths:
            return [path if is_folder(path) else path.parent for path in self._paths if is_there(path)]
        return list(dict.fromkeys(root for _, root in roots(self._agents, self._environment, self._home)))

    def look(self) -> None:
        """Search the disk; new and changed sessions are due. A fault changes no session."""
        self.lacking = False
        try:
            self._look()
        except Exception as fault:  # noqa: BLE001 those who are known must still be seen
            self.unread = (*self.unread[:20], _cannot("search for sessions", fault))

    def _look(self) -> None:
        now = self.wall()
        fleet = self.settings.screen.fleet
        found_now = self._find(now)
        hours = min(fleet.within, fleet.left / 3600.0) if self.scope == "needing" else fleet.within
        recent = [one for one in found_now if now - one.modified <= hours * 3600.0]
        listed = {listing_key(one): one for one in recent[: fleet.most]}
        members: dict[str, Member] = {}
        if self._kept is None:
            self._kept = KeptRows(self.settings)
        copies = self._copies(one for key, one in listed.items() if key not in self._members)
        for key, listing in listed.items():
            member = self._members.get(key)
            if member is None:
                shared = self._kit, self._finder, self.settings, self.initial_states
                member = Member(listing, *shared, copies.get(listing.path, ()), self._kept)
            else:
                self._do_for(member, partial(member.update, listing))
            members[key] = member
        self._members = members | {key: one for key, one in self._members.items() if key not in members and one.awake}
        if self.scope == "all":
            older = (one for one in found_now if listing_key(one) not in self._members)
            limits = Limits.of(self.settings)
            self._older = tuple(unread_row(one, now, limits) for one in islice(older, _OLDER))

    def _copies(self, new: Iterable[Found]) -> dict[Path, tuple[Log, ...]]:
        """The older logs that new ones repeat, because they were forked or resumed from them."""
        paths = [one.path for one in new if one.path.suffix == _LINES]
        if not paths:
            return {}
        paths_before = [member.found.path for member in self._members.values()]
        try:
            here = self._finder.sessions([*paths, *(path for path in paths_before if path.suffix == _LINES)])
        except UnreadableLog:
            return {}
        return {one.path: one.copied for one in here if one.copied}

    def _find(self, now: float) -> list[Found]:
        active = self.settings.ingest.follow.active_within
        if not self._paths:
            faults: list[str] = []
            here = self._environment, self._home
            listings = find(self._agents, *here, now=now, active_within=active, faults=faults)
            self.unread = tuple(faults)
            return listings
        self._faults.first.clear()
        self._faults.counts.clear()
        listings = []
        reasons: tuple[str, ...] = ()
        try:
            listings = describe_sessions(self._agents, self._finder.sessions(self._paths), now, active)
        except UnreadableLog as fault:
            reasons = (str(fault),) if not _is_blank(str(fault)) else ()
        reasons += tuple(f"{one.file}: {one.reason}" for one in self._faults.first if not _is_blank(one.reason))
        self.unread = tuple(dict.fromkeys(reasons))
        return listings

    def notice(self, changed: Collection[Path]) -> None:
        """Mark the sessions of changed files as due; without files, all awake ones."""
        if not changed:
            for member in self._members.values():
                member.due = member.due or member.awake
            return
        owners: dict[Path, list[Member]] = {}
        for member in self._members.values():
            for path in member.files():
                owners.setdefault(path, []).append(member)
        for path in changed:
            plain = path.with_name(path.name.removesuffix("-wal"))
            touched = owners.get(plain) or owners.get(path.parent)
            for member in touched or ():
                member.due = True
                self.lacking = self.lacking or not member.awake
            if touched is None and path not in self._foreign:
                self.lacking = True
                if len(self._foreign) >= _FOREIGN:
                    self._foreign.clear()
                self._foreign.add(path)

    def work(self, seconds: float) -> bool:
        """Read what is due, the newest sessions first, for so long; whether there is more."""
        end = time.monotonic() + seconds
        while due := [member for member in self._members.values() if member.due]:
            for member in due:
                self._do_for(member, partial(member.work, _SLICE))
                if time.monotonic() >= end:
                    return True
        return self._read_on(end)

    def _read_on(self, end: float) -> bool:
        """Read whole logs behind their ends, then for what they cost; whether the time was over first.

        After a fault the end of a log is still followed, and what it cost is still shown.
        """
        members = self._members.values()
        while unread := [one for one in members if one.filling] or [one for one in members if one.uncounted]:
            member = unread[0]
            read, leave = (
                (member.fill, member.leave_whole) if member.filling else (member.count, member.leave_uncounted)
            )
            try:
                read(_SLICE)
            except Exception:  # noqa: BLE001 its row stays as it was
                leave()
            if time.monotonic() >= end:
                return True
        return False

    def _do_for(self, member: Member, deed: Callable[[], object]) -> None:
        """Do something for one session; a fault becomes its status and costs the others nothing."""
        try:
            deed()
        except Exception as fault:  # noqa: BLE001 the rest of the fleet must still be seen
            member.give_up(_cannot("follow it", fault))

    def _row(self, member: Member, now: float, pace: float = 0.0) -> FleetRow:
        """Return the row of one session; a fault becomes its status and costs the others nothing."""
        try:
            return member.row(now, pace)
        except Exception as fault:  # noqa: BLE001 the rest of the fleet must still be seen
            member.give_up(_cannot("follow it", fault))
            return member.row(now)

    def settle(self, now: float) -> None:
        """Put inactive sessions to rest, and the quietest if too many are awake."""
        awake = [one for one in self._members.values() if one.awake and not (one.due or one.filling)]
        awake.sort(key=lambda member: member.heard, reverse=True)
        active = self.settings.ingest.follow.active_within
        for place, member in enumerate(awake):
            at_rest = now - member.changed > active
            if at_rest or place >= self.settings.screen.fleet.awake:
                self._row(member, now)
                if at_rest:
                    self._do_for(member, member.keep)
                member.rest()

    def rows(self, now: float) -> tuple[FleetRow, ...]:
        """Everyone, the newest first."""
        awake = sum(member.awake for member in self._members.values())
        pace = max(0.0, (awake - _FEW) * _EACH)
        return (*(self._row(member, now, pace) for member in self._members.values()), *self._older)


def _cannot(deed: str, fault: Exception) -> str:
    return f"nooscope cannot {deed} ({type(fault).__name__}: {str(fault)[:200]})"


def _is_blank(reason: str) -> bool:
    """Whether a place only lacks a log so far, which is not a fault."""
    return all(each.endswith(_BLANK) for each in reason.split("; "))


_READING = 0.1  # Seconds of reading between two looks at the clock.
_BREATH = 0.005  # Seconds left to the screen between two stretches of reading.
_NEW = 1.0  # Seconds between two searches that unknown files ask for.
_UNSEEN = 4  # Pictures made ahead of the screen.


class FleetWatch:
    """Keeps a roster up to date while it runs; it may be stopped and started again."""

    def __init__(self, roster: Roster, show: Callable[[tuple[FleetRow, ...], float], object]) -> None:
        self._roster = roster
        self._show = show
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = self._looked = float("-inf")
        self._unseen = 0  # Pictures that nobody has looked at yet; a screen that hangs would pile them up.

    def start(self, scope: Scope = "recent") -> None:
        """Run until stopped; rows are shown from the thread."""
        self._roster.scope, self._unseen = scope, 0
        before = self._thread
        self._stop = stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(stop, before), name="nooscope-fleet", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end by itself."""
        self._stop.set()

    def mark_shown(self) -> None:
        """The rows that were shown have arrived."""
        self._unseen = 0

    def join(self, patience: float) -> None:
        """Wait for the thread's end."""
        if self._thread is not None:
            self._thread.join(patience)

    def _run(self, stop: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        self._looked = float("-inf")
        self._turn(stop)
        settings = self._roster.settings
        pace = 1.0 / settings.screen.fleet.rate
        while not stop.is_set():
            folders = self._roster.folders
            for changed in file_changes(folders, stop, settings.ingest.follow, recursive=True):
                if stop.is_set():
                    return
                self._roster.notice(changed)
                self._turn(stop)
                stop.wait(pace if changed else 0.0)
                if self._roster.folders != folders:
                    break

    def _turn(self, stop: threading.Event) -> None:
        """Search if it is time, read all that is due, and show the rows now and then."""
        now = time.monotonic()
        wait = _NEW if self._roster.lacking else self._roster.settings.screen.fleet.search
        if now - self._looked >= wait:
            self._roster.look()
            self._looked = time.monotonic()
            self._picture()
        while self._roster.work(_READING) and not stop.is_set():
            self._picture(after=0.5)
            stop.wait(_BREATH)
        self._roster.settle(self._roster.wall())
        self._picture()

    def _picture(self, after: float = 0.0) -> None:
        if self._unseen < _UNSEEN and time.monotonic() - self._shown >= after:
            self._unseen += 1
            now = self._roster.wall()
            self._show(self._roster.rows(now), now)
            self._shown = time.monotonic()


def once(roster: Roster) -> tuple[tuple[FleetRow, ...], float]:
    """Search and read everything once, without a thread."""
    roster.look()
    while roster.work(60.0):
        pass
    now = roster.wall()
    rows = roster.rows(now)
    roster.settle(now)
    return rows, now
