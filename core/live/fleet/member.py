"""One session of the fleet: read from its end first, whole while it is active, asleep when it rests."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from core.errors import UnreadableLog
from core.events import MAIN
from core.live.fleet.kept_rows import KeptRow, KeptRows
from core.live.fleet.model import SessionModel, cut
from core.live.fleet.row import FleetRow
from core.live.fleet.whole_cost import WholeCost
from core.live.status import Limits, StatusFacts, status_of
from core.logs.diagnostics import Diagnostics
from core.logs.finder import Finder
from core.logs.found import Found
from core.logs.reader import Kit
from core.logs.records import Log
from core.logs.session import LogSession
from core.settings import Settings
from core.timeline.run_inputs import InitialStates

_MB = 1_000_000
_REDRAWN = 5.0
"""Seconds after which a quiet session's figures are read again."""


class Member:
    """A session that is known; only an awake one has minds."""

    def __init__(
        self,
        found: Found,
        kit: Kit,
        finder: Finder,
        settings: Settings,
        initial_states: InitialStates | None = None,
        copied: tuple[Log, ...] = (),
        kept: KeptRows | None = None,
    ) -> None:
        self.found = found
        self.due = True
        """There may be something to read."""
        self.heard = 0.0
        """When its logs last gave a sign of life."""
        self._kit = kit
        self._finder = finder
        self._settings = settings
        self._initial_states = initial_states or InitialStates(settings)
        self._limits = Limits.of(settings)
        self._model: SessionModel | None = None
        self._whole: SessionModel | None = None
        """The same session from its beginning, until it has caught up."""
        self._cut = False
        self._caught_up = False
        self._changed = found.modified
        self._row: FleetRow | None = None
        self._taken = 0.0
        self._copied = copied
        self._cost = WholeCost(settings)
        self._kept = kept
        self._place: KeptRow | None = None
        """Where its row is kept, if its minds read the logs as they were then."""

    @property
    def awake(self) -> bool:
        return self._model is not None

    @property
    def filling(self) -> bool:
        """Its whole log is being read behind the first look."""
        return self._whole is not None

    def files(self) -> list[Path]:
        """The logs by which it can be recognised."""
        return self._model.driver.source.files() if self._model is not None else list(self.found.paths)

    def update(self, found: Found) -> None:
        """Take note of how it lies on disk now."""
        if found.modified > self.found.modified:
            self.due = True
        self.found = found
        if self.awake and self._cut and not self.filling:
            self._fill_active()

    @property
    def changed(self) -> float:
        """When its logs last changed on disk."""
        return self._changed

    def work(self, most: int) -> None:
        """Read on, at most so many events."""
        if self._model is None and self._recall():
            return
        model = self._model or self._open()
        model.advance(most)
        self.due = model.behind
        if self._cut and not (self.due or model.tracker.events):
            self._open_whole()
            return
        self._caught_up = self._caught_up or not self.due
        self._changed = model.driver.changed
        self.heard = max(self.heard, model.driver.heard)

    def _recall(self) -> bool:
        """Take over the row that was made of these very logs before, where nobody works in them."""
        self._place = None
        session = None if self._kept is None or self.found.active else self._session()
        if session is None or self._kept is None:
            return False
        self._place = self._kept.of(session, self._initial_states.of(session.id))
        row = self._place.load()
        if row is None:
            return False
        self._row, self._cut, self._caught_up, self.due = row, row.partial, True, False
        self.heard = row.facts.heard
        return True

    def keep(self) -> None:
        """Keep its row for the next look, once all that is there was read."""
        if self._place is not None and self._row is not None and self._caught_up:
            self._place.save(self._row)
        self._place = None

    def fill(self, most: int) -> None:
        """Read on in the whole log; once that has caught up it takes over."""
        whole = self._whole
        if whole is None:
            return
        whole.advance(most)
        if not whole.behind:
            self._model, self._whole, self._cut = whole, None, False

    def leave_whole(self) -> None:
        """Be content with the end of the log."""
        self._whole = None

    @property
    def uncounted(self) -> bool:
        """Its minds read only the end of the log, and the rest was not looked through for its cost yet."""
        return self._cut and self._caught_up and not self.filling and self._cost.due(self.found)

    def count(self, most: int) -> None:
        """Look through the whole log for what it cost, at most so many events."""
        session = self._session()
        if session is None:
            self.leave_uncounted()
        else:
            self._cost.work(session, self.found, most)

    def leave_uncounted(self) -> None:
        """Be content with what the end of the log tells of its cost."""
        self._cost.leave(self.found)

    def give_up(self, why: str) -> None:
        """It cannot be followed; that is what its row says until its log changes again."""
        self.due, self._place = False, None
        row = self._row or self._blank(self.found.last)
        self._row = replace(row, facts=replace(row.facts, lost=why, read=1.0))
        self.rest()

    def _open(self) -> SessionModel:
        settings, found = self._settings, self.found
        self._caught_up = False
        session = self._session()
        if session is None:
            self._model = self._make(found.path)
            return self._model
        end, self._cut = cut(session, round(settings.screen.fleet.tail * _MB), _size)
        if found.active:
            self.heard = found.last
        if self._cut:
            self._fill_active()
        self._model = self._make(end)
        return self._model

    def _fill_active(self) -> None:
        """Read the whole log behind its end, once somebody works there."""
        found = self.found
        if found.active and found.size <= self._settings.screen.fleet.whole * _MB:
            session = self._session()
            self._whole = None if session is None else self._make(session)

    def _open_whole(self) -> None:
        """Its end tells nothing, such as one long line: read it all at once."""
        session = self._session()
        self._model = self._whole or self._make(session or self.found.path)
        self._whole, self._cut, self.due = None, False, True

    def _make(self, session: LogSession | Path) -> SessionModel:
        name = session.id if isinstance(session, LogSession) else self.found.session
        inputs = self._initial_states.of(name)
        return SessionModel(session, self._own_kit(), self._initial_states, inputs, self._changed)

    def _session(self) -> LogSession | None:
        try:
            here = self._finder.sessions([self.found.path])
        except UnreadableLog:
            return None
        named = [one for one in here if one.id == self.found.session]
        return (named or here)[0]._replace(copied=self._copied)

    def _own_kit(self) -> Kit:
        faults = Diagnostics(self._settings.ingest.lines.faults)
        return self._kit.counting(faults)

    def rest(self) -> None:
        """Let go of the minds and keep what was last known."""
        self._model = self._whole = None

    def row(self, now: float) -> FleetRow:
        """How it stands at a moment."""
        model = self._model
        if model is not None and self._caught_up and (model.fresh or now - self._taken >= _REDRAWN):
            self._row, self._taken = self._take(model, now), now
        row = self._row or self._blank(now)
        return self._cost.told(row, self.found).at(now, self._limits)

    def _blank(self, now: float) -> FleetRow:
        return _blank_row(self.found, StatusFacts(heard=self.found.last, read=0.0), now, self._limits)

    def _take(self, model: SessionModel, now: float) -> FleetRow:
        found = self.found
        facts = model.facts(self.heard or found.last)
        if model.behind and facts.close:
            facts = replace(facts, close="")
        engine = model.society.engine(MAIN)
        gauge = engine.mind.heart.gauge
        governor = engine.governor.read()
        frustration, flow = model.axes(now)
        state, pattern = model.mood
        last, sign = model.last_words()
        cost, charges = model.cost()
        return FleetRow(
            key=_key(found),
            path=found.path,
            session=found.session,
            agent=model.tool or found.agent,
            project=model.project or found.project,
            facts=facts,
            status=model.worded(status_of(facts, now, self._limits)),
            model=model.model,
            state=state,
            pattern=pattern,
            frustration=frustration,
            flow=flow,
            curve=tuple(model.curve),
            context_tokens=gauge.tokens,
            compaction_point=gauge.point,
            compactions=gauge.compactions,
            governor=governor.state,
            halt=governor.halt,
            figures=engine.receptor.facts.read(),
            outlook=engine.response.outlook(),
            burn=model.burn(now),
            burnt=self.heard + self._settings.screen.burn,
            last=last,
            last_sign=sign,
            last_at=model.last.at if model.last is not None else 0.0,
            title=found.title,
            dollars=cost.dollars,
            priced=cost.priced,
            unpriced=cost.unpriced,
            charges=() if facts.synthetic else charges,
            calls=model.calls,
            failures=model.failures,
            partial=self._cut,
            uncounted=self._cut,
            skipped=0 if self._cut else model.kit.diagnostics.total,
        )


def unread_row(found: Found, now: float, limits: Limits) -> FleetRow:
    """A session that is only known by what lies on disk."""
    return _blank_row(found, StatusFacts(heard=found.last, read=0.0, old=True), now, limits)


def _blank_row(found: Found, facts: StatusFacts, now: float, limits: Limits) -> FleetRow:
    return FleetRow(
        _key(found),
        found.path,
        found.session,
        found.agent,
        found.project,
        facts=facts,
        status=status_of(facts, now, limits),
        title=found.title,
    )


def _key(found: Found) -> str:
    return f"{found.path}\n{found.session}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
