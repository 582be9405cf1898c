"""The work on a tree in shares that do not depend on who does them, and one share from logs to Parquet."""

from __future__ import annotations

import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote

import msgspec
from blake3 import blake3

from core.engine.percept import AXES
from core.engine.response import QUIET
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import Event, Prompt, ToolUse, Turn
from core.extras import needed
from core.logs.session import LogSession, identity
from core.report.analysis import Summary, analyse
from core.safe_text import whole
from core.timeline.run_inputs import RunInputs

Put = Callable[[str, str, dict[str, Any]], object]  # Takes a table, a day and a row.

_TICK = (
    *("tick", "kind", "deliberate_seconds", "act_seconds", "cost", "tokens_used", "tokens_budget"),
    *("accuracy_change", "regime", "actions", "sleep_pressure"),
)
_COUNTED = (
    *("events", "prompts", "interrupts", "turns", "tool_uses", "compactions", "subagents", "active"),
    "synthetic_time",
)
_CALL = ("tool", "action", "outcome", "purpose", "program", "duration", "exit_code", "size")
_TURN = ("model", "input_tokens", "output_tokens", "cache_read", "cache_write", "context_tokens", "cost")
_LATEST = 253_402_300_799.0


def dataset_session_id(session: LogSession, copy: int = 0) -> str:
    """The id of a session in a dataset; a further log of the same session counts as a copy."""
    name = f"{session.tool}\0{session.id}" + (f"\0{copy}" if copy else "")
    return blake3(name.encode("utf-8", "surrogatepass")).hexdigest(length=12)


def day_of(at: float | None) -> str:
    """Return the day of a moment; a moment outside the calendar counts as the first day."""
    return datetime.fromtimestamp(_valid_time(at), UTC).strftime("%Y-%m-%d")


def _valid_time(at: float | None) -> float:
    return at if at is not None and isfinite(at) and 0.0 <= at <= _LATEST else 0.0


class Rows:
    """Sees every step of a session and puts its rows down."""

    def __init__(self, key: str, put: Put) -> None:
        self._key = key
        self._put = put
        self._seen: dict[bytes, int] = {}
        self._number = 0

    def step(self, event: Event, step: Step, society: Society) -> None:
        """The rows of one event."""
        id_ = self._id(event)
        at, day = _valid_time(event.at), day_of(event.at)
        base = {"event_id": id_, "session_id": self._key, "at": at, "who": whole(event.agent)}
        self._put("events", day, base | self._event(event, step))
        for kind, name, value in _signal_rows(step):
            self._put("signals", day, base | {"kind": kind, "name": name, "value": value})
        if step.thought.rows:
            record = society.engine(event.agent).mind.heart.metrics.record
            for row in map(record, step.thought.rows):
                values = {name: row[name] for name in _TICK}
                when = {"session_id": self._key, "who": whole(event.agent), "at": _valid_time(row["wall_time"])}
                self._put("ticks", day_of(row["wall_time"]), when | values)
        self._number += 1

    def _event(self, event: Event, step: Step) -> dict[str, Any]:
        values: dict[str, Any] = {"n": self._number, "kind": event.__struct_config__.tag}
        if isinstance(event, ToolUse):
            values |= {name: getattr(event, name) for name in _CALL}
            values["targets"], values["shape"] = (list(map(whole, event.targets)), f"{event.shape:016x}")
            values["tool"], values["program"] = whole(event.tool), whole(event.program)
        elif isinstance(event, Turn):
            values |= {name: getattr(event, name) for name in _TURN}
        elif isinstance(event, Prompt):
            values["size"] = event.characters
        percept = step.percept
        values |= {"state": percept.state, "pattern": percept.pattern, "regime": step.thought.regime}
        return values | dict(zip(AXES, percept.axes, strict=True))

    def _id(self, event: Event) -> str:
        own = self._key.encode() + repr(identity(event)).encode("utf-8", "surrogatepass")
        digest = blake3(own).digest(length=12)
        times = self._seen.get(digest, 0)
        self._seen[digest] = times + 1
        return digest.hex() if not times else blake3(own + b"\0%d" % times).hexdigest(length=12)


def _signal_rows(step: Step) -> list[tuple[str, str, float]]:
    signals: list[tuple[str, str, float]] = [
        ("signal", one.name, float(one.intensity)) for one in step.percept.signals if one.fresh
    ]
    if step.verdict.halted_now:
        signals.append(("halt", str(step.verdict.halted_now), float(step.verdict.step)))
    if step.mood.entered:
        signals.append(("quarantine", "affect", 1.0))
    if step.reaction is not QUIET:
        signals += [("advice", one.method, float(one.score)) for one in step.reaction.fired]
        if step.reaction.loop is not None:
            signals.append(("loop", step.reaction.loop.detector, float(step.reaction.loop.count)))
    return signals


def put_session(session: LogSession, start: RunInputs, copy: int, put: Put) -> Summary:
    """Run one session and put its rows down."""
    key = dataset_session_id(session, copy)
    rows = Rows(key, put)
    summary = analyse(session, start.settings, False, start.initial, start.later, rows.step).summary
    tokens = summary.tokens
    put(
        "sessions",
        day_of(summary.started),
        {name: getattr(summary, name) for name in _COUNTED}
        | {
            "session_id": key,
            "session": whole(summary.id),
            "path": whole(summary.path),
            "project": whole(summary.project),
            "models": list(map(whole, summary.models)),
            "started": None if summary.started is None else _valid_time(summary.started),
            "ended": None if summary.ended is None else _valid_time(summary.ended),
            "failures": summary.outcomes.get("failure", 0),
            "input_tokens": tokens.input,
            "output_tokens": tokens.output,
            "cache_read": tokens.cache_read,
            "cache_write": tokens.cache_write,
            "cost": tokens.cost,
            "unpriced": tokens.unpriced,
            "halts": len(summary.halts),
            "loops": len(summary.loops),
            "skipped": summary.skipped.total,
        },
    )
    return summary


# Into how many shares sessions fall by the hash of their ids; a share is one file a table, agent and day.
SHARES = 1024
_OPEN = 200  # Files of rows that are open at once.


class SessionShare(NamedTuple):
    """One session, where it starts, and its number among copies with the same id."""

    session: LogSession
    start: RunInputs
    copy: int


class Share(NamedTuple):
    """Sessions that are written together."""

    number: int
    tasks: tuple[SessionShare, ...]


class Written(NamedTuple):
    """The files a share has written, by their place in the dataset, with their content."""

    number: int
    files: tuple[tuple[str, bytes], ...]
    sessions: int
    events: int
    skipped: int


def shares(
    sessions: Sequence[LogSession], start: Callable[[str], RunInputs], part: tuple[int, int] = (1, 1)
) -> list[Share]:
    """The shares of these sessions; of a part such as (3, 16) only every sixteenth, from the third on."""
    by_share: dict[int, list[SessionShare]] = {}
    copies: Counter[tuple[str, str]] = Counter()
    for session in sorted(sessions, key=lambda one: str(one.path)):
        copy = copies[session.tool, session.id]
        copies[session.tool, session.id] += 1
        number = int(blake3(dataset_session_id(session).encode()).hexdigest(length=4), 16) % SHARES
        if number % part[1] == part[0] - 1:
            by_share.setdefault(number, []).append(SessionShare(session, start(session.id), copy))
    return [Share(number, tuple(tasks)) for number, tasks in sorted(by_share.items())]


def write_share(share: Share) -> Written:
    """Do one share; the same share gives the same rows in the same order wherever it is done."""
    with tempfile.TemporaryDirectory(prefix="nooscope-") as name, ExitStack() as stack:
        spool = _Spool(Path(name), stack)
        events = skipped = 0
        for session, start, copy in share.tasks:
            spool.agent = session.tool
            summary = put_session(session, start, copy, spool.put)
            events += summary.events
            skipped += summary.skipped.total
        files = spool.parquet(f"share-{share.number:04d}.parquet")
    return Written(share.number, files, len(share.tasks), events, skipped)


class _Spool:
    """Rows on their way: lines of JSON by table, agent and day, then Parquet."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._files: dict[tuple[str, str, str], IO[bytes]] = {}
        self._places: dict[tuple[str, str, str], Path] = {}
        self._encode = msgspec.json.Encoder().encode
        self.agent = ""

    def put(self, table: str, day: str, row: dict[str, Any]) -> None:
        """Add a row."""
        key = (table, self.agent, day)
        file = self._files.get(key)
        if file is None:
            if len(self._files) >= _OPEN:
                for each in self._files.values():
                    each.close()
                self._files.clear()
            path = self._places.setdefault(key, self._folder / f"{len(self._places)}.jsonl")
            file = self._files[key] = self._stack.enter_context(path.open("ab"))
        file.write(self._encode(row) + b"\n")

    def parquet(self, name: str) -> tuple[tuple[str, bytes], ...]:
        """All rows as files of a dataset."""
        duckdb = needed("duckdb", "batch")
        for file in self._files.values():
            file.close()
        target = self._folder / "rows.parquet"
        files = []
        with duckdb.connect(":memory:", config={"threads": 1}) as base:
            for (table, agent, day), path in sorted(self._places.items()):
                base.execute(_parquet_statement(TABLES[table], path, target))
                place = f"{table}/agent={quote(agent, safe='')}/day={day}/{name}"
                files.append((place, target.read_bytes()))
        return tuple(files)


def _parquet_statement(columns: tuple[Col, ...], source: Path, target: Path) -> str:
    """The statement that turns lines into Parquet, with our types and our order of columns."""
    read = ", ".join(f"'{col.name}': '{'DOUBLE' if col.type == 'TIMESTAMP' else col.type}'" for col in columns)
    chosen = ", ".join(
        f'make_timestamp(CAST(round("{col.name}" * 1e6) AS BIGINT)) AS "{col.name}"'
        if col.type == "TIMESTAMP"
        else f'"{col.name}"'
        for col in columns
    )
    lines = f"read_json('{_sql_quoted(source)}', format='newline_delimited', columns={{{read}}})"
    return (
        f"COPY (SELECT {chosen} FROM {lines}) TO '{_sql_quoted(target)}' "  # noqa: S608 our own names
        "(FORMAT parquet, COMPRESSION zstd)"
    )


def _sql_quoted(path: Path) -> str:
    return str(path).replace("'", "''")


VERSION = 1  # Raised whenever a column changes its meaning; columns are otherwise only added.


class Col(NamedTuple):
    """One column."""

    name: str
    type: str
    about: str


def _tables() -> dict[str, tuple[Col, ...]]:
    sections = tomllib.loads(Path(__file__).with_name("columns.toml").read_text("utf-8"))
    tables = {table: tuple(Col(name, *rest) for name, rest in columns.items()) for table, columns in sections.items()}
    tables["events"] += tuple(Col(axis, "DOUBLE", f"The axis {axis} after the event, 0 to 1.") for axis in AXES)
    return tables


TABLES = _tables()
PARTITIONS = (
    Col("agent", "VARCHAR", "The program, such as claude-code; a folder of the dataset."),
    Col("day", "DATE", "Day in UTC; a folder of the dataset."),
)
