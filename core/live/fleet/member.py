"""One session of the fleet: read from its end first, whole while it is active or for its cost, asleep at rest."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from datetime import datetime
from pathlib import Path, PurePath

from msgspec.structs import replace

from core.agents.registry import known_agents, make_kit
from core.agents.words import NOTHING, WordReader, Words, first_line, word_logs
from core.engine.percept import AXES
from core.engine.society.engine import Step
from core.errors import UnreadableLog
from core.events import MAIN, Event, Prompt, SessionStart, ToolUse, Turn
from core.live.driver import PAUSE, Driver
from core.live.fleet.row import BUCKETS, FleetRow, KeptRow, KeptRows
from core.live.source import Followed, state_on_disk
from core.live.status import Limits, StatusFacts, status_of
from core.logs.discovery import Found, find
from core.logs.finder import Finder
from core.logs.format import Diagnostics, Kit
from core.logs.lines import is_packed
from core.logs.log_files import open_log
from core.logs.records import Log
from core.logs.session import LogSession, identities, identity
from core.report.cost import Charge, CostReader, SessionCost, charge_of, session_cost
from core.report.event_words import OUTCOME_SIGNS, about, kind_of, mode_words, outcome_of, tool_of
from core.report.formatting import last_words, plain
from core.report.log_tree import LogTree, SessionName, session_name
from core.report.outcome import OutcomeReader
from core.report.sums import Budget, DaySpent, Sum, added, dated_charges, day_spent, forecast, total
from core.settings import Settings
from core.store.reading_cache import reading_cache
from core.timeline.run_inputs import InitialStates, RunInputs

_FRUSTRATION, _FLOW = AXES.index("frustration"), AXES.index("flow")
_TURNS = 2000  # Turns remembered at most for the tokens of the last minutes.
_MINUTES = 1600  # Minutes in which something was charged that are remembered: a little more than a day.
_FADED = 10.0  # Seconds after which a quiet agent's axes are read again.
_PIECE = 65_536


class SessionModel:
    """One session from some place of its logs on."""

    def __init__(
        self, session: LogSession | Path, kit: Kit, initial_states: InitialStates, inputs: RunInputs, changed: float
    ) -> None:
        settings = initial_states.settings
        self.kit = kit
        self.driver = Driver(Followed(session, kit, settings), initial_states, inputs=inputs, changed=changed)
        self.curve: deque[tuple[int, float]] = deque(maxlen=BUCKETS)
        self.project = self.tool = self.model = ""
        self.background = False
        self.last: Event | None = None
        # The last one that is more than the end of a turn, which says nothing of its own.
        self._shown: Event | None = None
        self.fresh = True  # Something came since `facts` were last taken.
        self._part = settings.screen.fleet.span / BUCKETS
        self._stretch = settings.screen.burn
        self._spent: deque[tuple[float, int]] = deque(maxlen=_TURNS)
        self._axes = (0.0, 0.0)
        self._axes_at = 0.0
        self._cost = Sum()
        self._charges: deque[Charge] = deque(maxlen=_MINUTES)
        copied = session.copied if isinstance(session, LogSession) else ()
        # Turns of the sessions it was forked from, which are charged there.
        self._told = identities(copied, kit, settings.ingest.lines) if copied else set()
        self._last_call: ToolUse | None = None
        self._calls = 0
        self.failures = 0
        self.outcome = OutcomeReader(changes=False)

    @property
    def behind(self) -> bool:
        """There is more to be read at once."""
        return self.driver.source.behind

    def advance(self, most: int) -> None:
        """Take in new events, up to `most` of them."""
        before = self.driver.changed, self.driver.size
        for event, step in self.driver.poll(most):
            if not self.driver.is_retaken(event):
                self._take(event, step)
            self.fresh = True
        if self.driver.log_notices() or (self.driver.changed, self.driver.size) != before:
            self.fresh = True

    def _take(self, event: Event, step: Step) -> None:
        number = int(event.at // self._part)
        frustration = step.percept.axes[_FRUSTRATION]
        part, highest = self.curve.pop() if self.curve and self.curve[-1][0] >= number else (number, 0.0)
        self.curve.append((part, max(highest, frustration)))
        if isinstance(event, Turn):
            self._spent.append((event.at, event.input_tokens + event.cache_write + event.output_tokens))
            self._charge(event)
            if event.model and event.agent == MAIN:
                self.model = event.model
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            self.project, self.tool = event.project or self.project, event.tool or self.tool
            self.model, self.background = event.model or self.model, event.background
        elif isinstance(event, ToolUse):
            self._calls += 1
            self.failures += event.outcome == "failure"
            self._last_call = event
        self.outcome.add(event)
        self.last = event
        if not (isinstance(event, Turn) and event.only_ends and event.stop != "error"):
            self._shown = event

    def _charge(self, turn: Turn) -> None:
        if self._told and identity(turn) in self._told:
            return
        charge = charge_of(turn)
        self._cost.add(charge)
        last = self._charges[-1] if self._charges else None
        if last is not None and last.minute == charge.minute and last.sub == charge.sub:
            last.add(charge)
        else:
            self._charges.append(charge)

    @property
    def calls(self) -> int:
        """Calls so far, those without a result among them."""
        return self._calls + sum([type(one) is ToolUse for one in self.driver.logged_events()])

    def cost(self) -> tuple[Sum, tuple[Charge, ...]]:
        """Return the cost of all turns, including the one still being written, and the cost per minute lately."""
        unfinished = [charge_of(event) for event in self.driver.pending_events() if isinstance(event, Turn)]
        charges = (*(copy(charge) for charge in self._charges), *unfinished)
        return total((self._cost, added(unfinished))), charges

    def facts(self, heard: float, now: float) -> StatusFacts:
        """Return the current facts."""
        self.fresh = False
        return self.driver.facts(heard, now=now)

    def axes(self, now: float) -> tuple[float, float]:
        """Frustration and flow of the main agent: as its last event left them, faded once it is quiet."""
        step = self.driver.last_main
        if step is None:
            return 0.0, 0.0
        percept = step.percept
        if now - percept.at < _FADED or self.driver.tracker.synthetic:
            return percept.axes[_FRUSTRATION], percept.axes[_FLOW]
        if not self._axes_at <= now < self._axes_at + _FADED or self._axes_at < percept.at:
            values = self.driver.society.engine(MAIN).receptor.read(now).axes
            self._axes = values[_FRUSTRATION].value, values[_FLOW].value
            self._axes_at = now
        return self._axes

    @property
    def mood(self) -> tuple[str, str]:
        """State and pattern of the main agent."""
        step = self.driver.last_main
        if step is None:
            return "", ""
        return self.driver.society.engine(MAIN).story(step).state, step.percept.pattern

    def burn(self, now: float) -> float:
        """Tokens a minute, all agents together."""
        edge = (self.driver.tracker.last if self.driver.tracker.synthetic else now) - self._stretch
        while self._spent and self._spent[0][0] < edge:
            self._spent.popleft()
        return sum(tokens for _, tokens in self._spent) * 60.0 / self._stretch

    def _words_of(self, event: Event) -> Words:
        """The words of an event, read from the session's own logs where they are near."""
        session = self.driver.source.session
        if session is None or not _is_near(event):
            return NOTHING
        return WordReader(word_logs(session)).words(event)

    def last_words(self) -> tuple[str, str]:
        """The last event in a few words, and the sign of its outcome."""
        event = self._shown
        unfinished = [one for one in self.driver.logged_events() if isinstance(one, Turn) and one.said]
        if unfinished and (event is None or unfinished[-1].at >= event.at):
            event = unfinished[-1]
        if event is None:
            return "", ""
        if isinstance(event, Prompt) and event.interrupt:
            return "you stopped it", ""
        read = self._words_of(event)
        if isinstance(event, Turn) and not read.said and self._last_call is not None:
            event = self._last_call
            read = self._words_of(event)
        if isinstance(event, Turn | Prompt) and read.said:
            who = "said" if isinstance(event, Turn) else "asked"
            return plain(f"{who} “{last_words(read.said) if who == 'said' else first_line(read.said)}”"), ""
        words, path = about(event)
        outcome = outcome_of(event)
        name = tool_of(event) if isinstance(event, ToolUse) else kind_of(event)
        command = first_line(read.command)
        command = command.replace(f"{self.project}/", "") if self.project else command
        line = " ".join(part for part in (name, command or f"{words} {PurePath(path).name}".strip()) if part)
        return plain(line, 120), OUTCOME_SIGNS.get(outcome, ("", ""))[0]


def _is_near(event: Event) -> bool:
    """Whether an event's words are one line of a log away."""
    place = event.where
    if isinstance(event, ToolUse):
        place = event.called or place
    elif isinstance(event, Turn):
        place = event.said or place
    return place is not None and not place.entry


def cut(session: LogSession, most: int) -> tuple[LogSession, bool]:
    """Keep only the end of each long log, from the beginning of a line; return whether any was shortened."""
    logs = tuple(_end_of(log, most) for log in session.logs)
    return session._replace(logs=logs), logs != session.logs


def _end_of(log: Log, most: int) -> Log:
    _, whole = state_on_disk((log.path,))
    if whole <= most or not log.whole or log.format.style != "lines" or is_packed(log.path):
        return log
    try:
        with open_log(log.path) as stream:
            place = stream.seek(whole - most)
            while piece := stream.read(_PIECE):
                newline = piece.find(b"\n")
                if newline >= 0:
                    return log._replace(start=place + newline + 1)
                place += len(piece)
    except OSError:
        pass
    return log


_MB = 1_000_000
_REDRAWN = 5.0  # Seconds after which a quiet session's figures are read again.


class Member:
    """A session that is known; only an awake one has minds."""

    def __init__(
        self,
        listing: Found,
        kit: Kit,
        finder: Finder,
        settings: Settings,
        initial_states: InitialStates | None = None,
        copied: tuple[Log, ...] = (),
        cache: KeptRows | None = None,
    ) -> None:
        self.found = listing
        self.due = True  # There may be something to read.
        self.heard = 0.0  # When its logs last gave a sign of life.
        self._kit = kit
        self._finder = finder
        self._settings = settings
        self._initial_states = initial_states or InitialStates(settings)
        self._limits = Limits.of(settings)
        self._model: SessionModel | None = None
        self._whole: SessionModel | None = None  # The same session from its beginning, until it has caught up.
        self._cut = False
        self._caught_up = False
        self.changed = listing.modified  # When its logs last changed on disk.
        self._row: FleetRow | None = None
        self._taken = self._detailed = float("-inf")  # When its status and the rest of its row were last read.
        self._outdated = True  # The rest of its row is older than its status.
        self._copied = copied
        self._cost = WholeCost(settings)
        self._kept = cache
        self._place: KeptRow | None = None  # Where its row is kept, if its minds read the logs as they were then.

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

    def update(self, listing: Found) -> None:
        """Update what is known of its files on disk."""
        if listing.modified > self.found.modified or listing.size != self.found.size:
            self.due = True
        self.found = listing
        if self.awake and self._cut and not self.filling:
            self._fill_active()

    def work(self, most: int) -> None:
        """Read up to `most` further events."""
        if self._model is None and self._recall():
            return
        model = self._model or self._open()
        model.advance(most)
        self.due = model.behind
        if self._cut and not (self.due or model.driver.tracker.events):
            self._open_whole()
            return
        self._caught_up = self._caught_up or not self.due
        self.changed = model.driver.changed
        self.heard = max(self.heard, model.driver.heard)

    def _recall(self) -> bool:
        """Use the cached row of a session at rest whose logs did not change."""
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
        """Follow only the end of the log."""
        self._whole = None

    @property
    def uncounted(self) -> bool:
        """Its minds read only the end of the log, and the rest was not looked through for its cost yet."""
        return self._cut and self._caught_up and not self.filling and self._cost.due(self.found)

    def count(self, most: int) -> None:
        """Read up to `most` events of the whole log for its cost."""
        session = self._session()
        if session is None:
            self.leave_uncounted()
        else:
            self._cost.work(session, self.found, most)

    def leave_uncounted(self) -> None:
        """Keep the cost of the end of the log."""
        self._cost.leave(self.found)

    def give_up(self, why: str) -> None:
        """It cannot be followed; that is what its row says until its log changes again."""
        self.due, self._place = False, None
        row = self._row or self._blank(self.found.last)
        self._row = replace(row, facts=replace(row.facts, lost=why, read=1.0))
        self.rest()

    def _open(self) -> SessionModel:
        settings, listing = self._settings, self.found
        self._caught_up = False
        session = self._session()
        if session is None:
            self._model = self._make(listing.path)
            return self._model
        end, self._cut = cut(session, round(settings.screen.fleet.tail * _MB))
        if listing.active:
            self.heard = listing.last
        if self._cut:
            self._fill_active()
        self._model = self._make(end)
        return self._model

    def _fill_active(self) -> None:
        """Read the whole log behind its end, once somebody works there."""
        listing = self.found
        if listing.active and listing.size <= self._settings.screen.fleet.whole * _MB:
            session = self._session()
            self._whole = None if session is None else self._make(session)

    def _open_whole(self) -> None:
        """Read the whole log because its end has no events, such as one long line."""
        session = self._session()
        self._model = self._whole or self._make(session or self.found.path)
        self._whole, self._cut, self.due = None, False, True

    def _make(self, session: LogSession | Path) -> SessionModel:
        name = session.id if isinstance(session, LogSession) else self.found.session
        inputs = self._initial_states.of(name)
        kit = self._kit.counting(Diagnostics(self._settings.ingest.lines.faults))
        return SessionModel(session, kit, self._initial_states, inputs, self.changed)

    def _session(self) -> LogSession | None:
        try:
            here = self._finder.sessions([self.found.path])
        except UnreadableLog:
            return None
        matches = [one for one in here if one.id == self.found.session]
        return (matches or here)[0]._replace(copied=self._copied)

    def rest(self) -> None:
        """Drop the minds and keep the last row."""
        self._model = self._whole = None

    def row(self, now: float, pace: float = 0.0) -> FleetRow:
        """Return its row at a moment; what its status does not need is read again at most every `pace` seconds."""
        model = self._model
        if model is not None and self._caught_up:
            quiet = now - self.heard
            if model.fresh or now - self._taken >= _REDRAWN or now - self._taken > quiet - PAUSE >= 0.0:
                self._take_status(model, now)
            if self._outdated and now - self._detailed >= pace:
                self._take(model, now)
        row = self._row or self._blank(now)
        return self._cost.with_whole_log(row, self.found).at(now, self._limits)

    def _blank(self, now: float) -> FleetRow:
        return _blank_row(self.found, StatusFacts(heard=self.found.last, read=0.0), now, self._limits)

    def _take_status(self, model: SessionModel, now: float) -> None:
        """Read the facts and the status; another status makes the rest of the row outdated at once."""
        facts = model.facts(self.heard or self.found.last, now)
        if model.behind and facts.close:
            facts = replace(facts, close="")
        status = model.driver.with_words(status_of(facts, now, self._limits))
        row = self._row or self._blank(now)
        if status.word != row.status.word:
            self._detailed = float("-inf")
        self._row, self._taken, self._outdated = replace(row, facts=facts, status=status), now, True

    def _take(self, model: SessionModel, now: float) -> None:
        """Read all of the row but its status."""
        row, listing = self._row or self._blank(now), self.found
        self._outdated, self._detailed = False, now
        engine = model.driver.society.engine(MAIN)
        gauge = engine.mind.heart.gauge
        governor = engine.governor.read()
        frustration, flow = model.axes(now)
        state, pattern = model.mood
        last, sign = model.last_words()
        cost, charges = model.cost()
        self._row = replace(
            row,
            agent=model.tool or listing.agent,
            project=model.project or listing.project,
            model=model.model,
            mode=mode_words(model.driver.tracker.mode),
            background=model.background,
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
            outcome=model.outcome.short(),
            burn=model.burn(now),
            burnt=self.heard + self._settings.screen.burn,
            last=last,
            last_sign=sign,
            last_at=model.last.at if model.last is not None else 0.0,
            title=listing.title,
            dollars=cost.dollars,
            priced=cost.priced,
            unpriced=cost.unpriced,
            charges=() if row.facts.synthetic else charges,
            calls=model.calls,
            failures=model.failures,
            partial=self._cut,
            uncounted=self._cut,
            skipped=0 if self._cut else model.kit.diagnostics.total,
        )


def unread_row(listing: Found, now: float, limits: Limits) -> FleetRow:
    """The row of a session whose log was not read."""
    return _blank_row(listing, StatusFacts(heard=listing.last, read=0.0, old=True), now, limits)


def _blank_row(listing: Found, facts: StatusFacts, now: float, limits: Limits) -> FleetRow:
    session = listing.path, listing.session, listing.agent, listing.project
    return FleetRow(listing_key(listing), *session, facts, status_of(facts, now, limits), title=listing.title)


def listing_key(listing: Found) -> str:
    """Return the key of a session in the fleet."""
    return f"{listing.path}\n{listing.session}"


class WholeCost:
    """Reads a whole log for its cost alone, in pieces."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: SessionCost | None = None
        self._made_of = (0, 0.0)  # Size and change of the logs that this is the cost of.
        self._of = (0, 0.0)  # Size and change of the logs when they were last looked at.
        self._name: SessionName | None = None
        self._tree: LogTree | None = None
        self._reader: CostReader | None = None

    def due(self, listing: Found) -> bool:
        """Whether there is something to look through."""
        if self._reader is not None:
            return True
        most = self._settings.screen.fleet.whole * _MB
        return self._of != (listing.size, listing.modified) and listing.size <= most

    def leave(self, listing: Found) -> None:
        """Keep the known cost until the log changes."""
        self._of, self._reader = (listing.size, listing.modified), None

    def work(self, session: LogSession, listing: Found, most: int) -> None:
        """Read at most `most` events; a cached cost is used at once."""
        if self._reader is None:
            self.leave(listing)
            self._tree = LogTree(self._settings, reading_cache(self._settings))
            self._name = session_name(session)
            cached = self._tree.cached("cost", self._name, SessionCost)
            if cached is not None:
                self._made, self._made_of = cached, self._of
                return
            self._reader = CostReader(session, self._settings)
        if self._reader.advance(most):
            if self._tree is not None and self._name is not None:
                self._tree.keep("cost", self._name, self._reader.made)
            self._made, self._made_of, self._reader = self._reader.made, self._of, None

    def with_whole_log(self, row: FleetRow, listing: Found) -> FleetRow:
        """Return the row with the figures of the whole log, as far as they are known."""
        cost = self._made
        if cost is None or not row.partial:
            return row
        whole = added(cost.charges)
        return replace(
            self._measured(row, cost, listing),
            dollars=whole.dollars,
            priced=whole.priced,
            unpriced=whole.unpriced,
            charges=tuple(cost.charges[-_MINUTES:]) if cost.dated else (),
            calls=cost.calls,
            failures=cost.failures,
            uncounted=self._made_of != (listing.size, listing.modified),
        )

    def _measured(self, row: FleetRow, cost: SessionCost, listing: Found) -> FleetRow:
        """The row's context against where its agent was seen to compact before the end that was read."""
        point = cost.compaction_point
        if not 0 < point < row.compaction_point:
            return row
        current = self._made_of == (listing.size, listing.modified)
        context = min(1.0, row.context_tokens / point)
        facts = replace(row.facts, context=context, turns_left=cost.turns_left if current else None)
        return replace(row, facts=facts, compaction_point=point)


def day_cost(settings: Settings, now: float) -> DaySpent:
    """Return today's cost, and how complete it is; only logs that changed today are read."""
    here = datetime.fromtimestamp(now).astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    tree = LogTree(settings, reading_cache(settings))
    most = settings.screen.fleet.whole * _MB
    active = settings.ingest.follow.active_within
    listings = find(known_agents(), os.environ, Path.home(), now=now, active_within=active)
    today = [one for one in listings if one.modified >= midnight]
    read = {(one.path, one.session) for one in today if one.size <= most}
    sessions = _sessions(settings, sorted({path for path, _ in read}))
    costs = [_cost(tree, one, settings) for one in sessions if (one.path, one.id) in read]
    outlook = forecast(dated_charges(costs), Budget.of(settings.screen.cost), now, None)
    return day_spent(outlook, open_end=len(read) < len(today))


def _sessions(settings: Settings, paths: list[Path]) -> Iterator[LogSession]:
    kit = make_kit(settings.ingest).counting(Diagnostics())
    with suppress(UnreadableLog):
        yield from Finder(kit, settings.ingest.lines).sessions(paths) if paths else ()


def _cost(tree: LogTree, session: LogSession, settings: Settings) -> SessionCost:
    name = session_name(session)
    cost = tree.cached("spent", name, SessionCost)
    if cost is None:
        cost = session_cost(session, settings)
        tree.keep("spent", name, cost)
    return cost
