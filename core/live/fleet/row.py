"""The rows of the fleet, cached while their logs do not change, and the order in which they are listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from blake3 import blake3
from msgspec import Struct
from msgspec.structs import replace

from core.engine.receptor.readings import FactsReading
from core.engine.response.outlook import OutlookReading
from core.live.hook_signs import HookBoard, HookSigns
from core.live.status import Limits, Open, Status, StatusFacts, status_of
from core.logs.redact.text import redact
from core.logs.session import LogSession
from core.report.cost import Charge
from core.report.formatting import folder_name, plain
from core.report.log_tree import LogTree, SessionName, session_name
from core.settings import Settings
from core.settings.group import canonical
from core.store.reading_cache import reading_cache
from core.timeline.run_inputs import Fingerprints, RunInputs

BUCKETS = 20  # Parts of the small curve.


class FleetRow(Struct, frozen=True):
    """One session's figures, with its status at the time of the row."""

    key: str
    path: Path
    session: str
    agent: str  # The program that runs it.
    project: str
    facts: StatusFacts
    status: Status
    model: str = ""
    mode: str = ""  # What it may do without asking, if that is unusual.
    background: bool = False  # It runs without a terminal of its own.
    state: str = ""
    pattern: str = ""
    frustration: float = 0.0
    flow: float = 0.0
    # Highest frustration of each part of the last minutes in which something happened, by its number.
    curve: tuple[tuple[int, float], ...] = ()
    context_tokens: int = 0
    compaction_point: int = 0
    compactions: int = 0
    governor: str = ""
    halt: str = ""
    burn: float = 0.0  # Tokens a minute.
    burnt: float = 0.0  # Until when that figure is valid.
    figures: FactsReading | None = None  # Plain figures of what the main agent did.
    outlook: OutlookReading | None = None  # Whether it goes worse or better than usual.
    outcome: str = ""  # Pull request, commits and last tests, in a few words.
    last: str = ""  # The last event in words.
    last_sign: str = ""
    last_at: float = 0.0
    title: str = ""  # What the session is about.
    dollars: float = 0.0  # What it cost, sub-agents included, as far as it was read.
    priced: int = 0  # Turns whose price is known.
    unpriced: int = 0
    charges: tuple[Charge, ...] = ()  # What was charged in each minute of the last day.
    calls: int = 0
    failures: int = 0
    partial: bool = False  # Only the end of the log was read by its minds.
    uncounted: bool = False  # Cost, calls and failures are those of that end alone.
    skipped: int = 0  # Lines that could not be read.
    signs: HookSigns | None = None  # What its hooks report ahead of its log.
    host: str = ""  # The machine it runs on; blank for this one.

    def at(self, now: float, limits: Limits) -> FleetRow:
        """Return the row at another moment."""
        status = status_of(self.facts, now, limits)
        if status.need and status.need == self.status.need and not status.words:
            status = replace(status, words=self.status.words)
        burn = self.burn if now <= self.burnt else 0.0
        return replace(self, status=status, burn=burn)

    def with_hooks(self, board: HookBoard, now: float, limits: Limits) -> FleetRow:
        """Return the row with what its hooks report, and with the limits of its plan on this machine."""
        return self.hooked(board.of(self.session, "" if self.host else self.agent), now, limits)

    def hooked(self, signs: HookSigns | None, now: float, limits: Limits) -> FleetRow:
        """The row with what its hooks report now."""
        if signs is None and self.signs is None:
            return self
        current = signs or HookSigns()
        open_tools = {call.tool for call in self.facts.open}
        asking = (call for call in current.open if call.tool in limits.asking and call.tool not in open_tools)
        calls = (*self.facts.open, *(Open(one.at, one.agent, one.tool, one.action) for one in asking))
        newest = max(self.facts.heard, current.heard)
        facts = replace(self.facts, asks=current.asking(), open=calls, heard=newest, process=current.process)
        return replace(self, facts=facts, signs=signs).at(now, limits)

    def wordless(self) -> FleetRow:
        """Return the row without the person's and the agent's words, for a shared screen."""
        signs = None if self.signs is None else replace(self.signs, questions=())
        return replace(self, title="", last="", last_sign="", status=self.status.wordless(), signs=signs)

    @property
    def name(self) -> str:
        """The project in a word."""
        return _name(self.project, self.path)

    @property
    def why(self) -> str:
        """The reason of its status, fit to be shown."""
        return plain(redact(self.status.reason))

    @property
    def running(self) -> int:
        """Sub-agents at work; none in a session at rest."""
        return 0 if self.status.at_rest else self.facts.running

    @property
    def cost(self) -> str:
        """Return the cost so far in a few characters: `$1.20`, `≥$1.20`, `?`."""
        if not self.priced:
            return "?" if self.unpriced else ""
        return f"{'≥' if self.unpriced or self.uncounted else ''}${self.dollars:,.2f}"

    def points(self, now: float, width: int, span: float) -> list[float | None]:
        """Return the small curve up to a moment, with None for parts without events."""
        values = dict(self.curve)
        end = int((self.last_at if self.facts.synthetic else now) // (span / BUCKETS))
        return [values.get(number) for number in range(end - min(width, BUCKETS) + 1, end + 1)]


@lru_cache(4096)
def _name(project: str, path: Path) -> str:
    return folder_name(project) or path.stem


def row_json(row: FleetRow, now: float) -> dict[str, Any]:
    """A row for scripts."""
    status, facts = row.status, row.facts
    since = status.since
    unread = None if row.partial else 0
    return {
        "session": row.session,
        "host": row.host,
        "agent": row.agent,
        "project": row.project,
        "path": str(row.path),
        "model": row.model,
        "mode": row.mode,
        "background": row.background,
        "status": status.word,
        "ending": status.ending,
        "sentence": status.words,
        "needs_person": status.level == 3,
        "level": status.level,
        "since": since,
        "for_seconds": None if since is None else round(max(0.0, now - since), 3),
        "why": row.why,
        "silent_seconds": round(max(0.0, now - facts.heard), 3) if facts.heard else None,
        "permits_asked": [] if row.signs is None else [one.number for one in row.signs.questions],
        "open_calls": [{"agent": call.agent, "tool": call.tool, "at": call.at} for call in facts.open],
        "state": row.state,
        "pattern": row.pattern,
        "frustration": round(row.frustration, 4),
        "flow": round(row.flow, 4),
        "context": round(facts.context, 4),
        "context_tokens": row.context_tokens,
        "compaction_point": row.compaction_point,
        "turns_to_compaction": facts.turns_left,
        "compactions": row.compactions or unread,
        "governor": row.governor,
        "halt": row.halt,
        "loop": facts.loop.why if facts.loop else "",
        "facts": row.figures,
        "outlook": row.outlook,
        "outcome": row.outcome,
        "sentences": [
            *(row.figures.sentences if row.figures else ()),
            *(row.outlook.sentences_beside(row.status.word, row.state) if row.outlook else ()),
        ],
        "tokens_per_minute": round(row.burn, 1),
        "last_event": row.last,
        "last_event_at": row.last_at or None,
        "subagents": facts.subagents or unread,
        "subagents_running": row.running,
        "events": facts.events,
        "title": row.title,
        "dollars": round(row.dollars, 6) if row.priced else None,
        "dollars_at_least": bool(row.unpriced or row.uncounted),
        "calls": row.calls,
        "failures": row.failures,
        "partial": row.partial,
        "skipped_lines": row.skipped,
    }


class KeptRow:
    """The row of one session as its logs were when this was made."""

    def __init__(self, settings: Settings, kind: str, name: SessionName) -> None:
        self._settings = settings
        self._kind = kind
        self._name = name
        self._tree = self._look()
        self._key = self._tree.key(kind, name)

    def _look(self) -> LogTree:
        return LogTree(self._settings, reading_cache(self._settings))

    def load(self) -> FleetRow | None:
        """The row cached for the same logs, settings and initial state."""
        cached = self._tree.cached(self._kind, self._name, bytes)
        try:
            return None if cached is None else _DECODER.decode(cached)
        except (msgspec.DecodeError, msgspec.ValidationError):
            return None

    def save(self, row: FleetRow) -> None:
        """Keep what was made of the logs, unless they have changed meanwhile."""
        now = self._look()
        if now.key(self._kind, self._name) == self._key:
            now.keep(self._kind, self._name, _ENCODER.encode(msgspec.structs.replace(row, signs=None)))


class KeptRows:
    """Names every row by all that decides it: logs, what is shown, and what the session was given."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._prints = Fingerprints()
        screen = repr(canonical(settings.screen, set())).encode("utf-8", "surrogatepass")
        self._shown = blake3(screen).hexdigest(length=8)

    def of(self, session: LogSession, inputs: RunInputs) -> KeptRow:
        """The place of a session's row, to be asked for before its logs are read."""
        kind = f"fleet2 {self._shown} {self._prints.of(inputs)}"
        return KeptRow(self._settings, kind, session_name(session))


def _plain(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} in a row")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain)
_DECODER = msgspec.msgpack.Decoder(FleetRow, dec_hook=lambda kind, value: kind(value))


Sorting = Literal["need", "recent", "cost", "failures", "context", "frustration", "tokens", "project", "agent"]

_KEYS: dict[Sorting, Callable[[FleetRow], Any]] = {
    "need": lambda row: row.status.urgency,
    "recent": lambda row: -row.facts.heard,
    "cost": lambda row: -row.dollars,
    "failures": lambda row: -row.failures,
    "context": lambda row: -row.facts.context,
    "frustration": lambda row: -row.frustration,
    "tokens": lambda row: -row.burn,
    "project": lambda row: row.name.casefold(),
    "agent": lambda row: row.agent,
}
# The orders one key goes through; by project they are grouped, by frustration the readings are shown.
VIEWS: tuple[Sorting, ...] = ("project", "need", "recent", "cost", "failures", "context", "frustration")

# What the number keys list: the statuses of each.
STATUS_FILTERS: dict[str, frozenset[str]] = {
    "all": frozenset(),
    "needs you": frozenset(("needs you", "may need you")),
    "stuck": frozenset(("looping", "stuck", "unreadable")),
    "working": frozenset(("working", "idle")),
    "done": frozenset(("done", "gave up")),
    "ended": frozenset(("ended",)),
}


class Order(NamedTuple):
    """The person's choice of order and filters."""

    sorting: Sorting = "need"
    grouped: bool = False  # By project, the most urgent one first; a project with several sessions has a heading.
    status: int = 0  # Which of the status filters is on; 0 lists all.
    text: str = ""
    folded: bool = True  # Sessions at rest take one line together.
    axes: bool = False  # Show what their minds read instead of what they are about.
    marked: tuple[str, ...] = ()  # Keys of the sessions marked for a comparison.

    def next_view(self) -> Order:
        """Return the order after this one."""
        here = "project" if self.grouped else self.sorting
        place = VIEWS.index(here) + 1 if here in VIEWS else 0
        name = VIEWS[place % len(VIEWS)]
        grouped = name == "project"
        return self._replace(sorting="need" if grouped else name, grouped=grouped, axes=name == "frustration")


class Heading(NamedTuple):
    """The line above the sessions of a project."""

    name: str
    rows: tuple[FleetRow, ...]


class Fold(NamedTuple):
    """One line for all sessions at rest."""

    rows: tuple[FleetRow, ...]
    name: str = "at rest"


Item: TypeAlias = FleetRow | Heading | Fold

_FEW = 3  # Sessions at rest that are listed before they are folded.


def listed(rows: Sequence[FleetRow], order: Order) -> list[Item]:
    """The rows that are wanted, in order, under headings where they are grouped."""
    matches = [row for row in rows if _fits(row, order)]
    key = _KEYS[order.sorting]
    matches.sort(key=lambda row: (key(row), row.status.urgency, row.key))
    items = _folded(matches, order)
    if not order.grouped:
        return items
    groups: dict[str, list[FleetRow]] = {}
    for row in items:
        if isinstance(row, FleetRow):
            groups.setdefault(row.project or row.name, []).append(row)
    grouped: list[Item] = []
    below_project = False
    for members in groups.values():
        is_project = len(members) > 1
        if is_project:
            grouped.append(Heading(members[0].name, tuple(members)))
        elif below_project:
            grouped.append(Heading("other projects", ()))
        grouped += members
        below_project = is_project
    return [*grouped, *(item for item in items if isinstance(item, Fold))]


def _folded(matches: list[FleetRow], order: Order) -> list[Item]:
    """The rows with those at rest behind one line, where they are more than a few."""
    resting = [row for row in matches if not row.status.level]
    if not order.folded or order.text or order.status or len(resting) <= _FEW:
        return list(matches)
    active: list[Item] = [row for row in matches if row.status.level]
    return [*active, *resting[:_FEW], Fold(tuple(resting[_FEW:]))]


def _fits(row: FleetRow, order: Order) -> bool:
    filter_words = list(STATUS_FILTERS.values())[order.status]
    if filter_words and row.status.word not in filter_words:
        return False
    if not order.text:
        return True
    status = row.status
    words = (
        *(row.agent, row.project, row.session, row.model, row.title, row.host),
        *(status.word, row.state, row.pattern, row.last),
    )
    text = " ".join(words).replace("_", " ").casefold()
    return all(part in text for part in order.text.casefold().split())


class Census(NamedTuple):
    """How many sessions are at each level."""

    need: int
    look: int
    work: int
    rest: int
    new: int = 0  # Without any event so far.


def census(rows: Sequence[FleetRow]) -> Census:
    """Count them."""
    levels = [row.status.level for row in rows if row.facts.events or row.status.level != 1]
    new = len(rows) - len(levels)
    return Census(levels.count(3), levels.count(2), levels.count(1), levels.count(0), new)
