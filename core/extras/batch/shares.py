"""The work on a tree in shares that do not depend on who does them, and one share from logs to Parquet."""

from __future__ import annotations

import contextlib
import logging
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
from blake3 import blake3

from core.engine.percept import AXES
from core.engine.response.reaction import QUIET
from core.engine.society import Society
from core.engine.society.engine import Step
from core.errors import NooscopeError, UsageError
from core.events import Event, Prompt, ToolUse, Turn
from core.extras import needed
from core.logs.session import LogSession, identity
from core.report.analysis import Summary, analyse
from core.safe_text import whole
from core.store import atomic
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
            values["targets"], values["shape"] = list(map(whole, event.targets)), f"{event.shape:016x}"
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
    by_share: defaultdict[int, list[SessionShare]] = defaultdict(list)
    copies: Counter[tuple[str, str]] = Counter()
    for session in sorted(sessions, key=lambda one: str(one.path)):
        copy = copies[session.tool, session.id]
        copies[session.tool, session.id] += 1
        number = int(blake3(dataset_session_id(session).encode()).hexdigest(length=4), 16) % SHARES
        if number % part[1] == part[0] - 1:
            by_share[number].append(SessionShare(session, start(session.id), copy))
    return [Share(number, tuple(tasks)) for number, tasks in sorted(by_share.items())]


def write_share(share: Share) -> Written:
    """Do one share; the same share gives the same rows in the same order wherever it is done."""
    with tempfile.TemporaryDirectory(prefix="nooscope-") as name, contextlib.ExitStack() as stack:
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

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
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
    timestamp = 'make_timestamp(CAST(round("{0}" * 1e6) AS BIGINT)) AS "{0}"'
    chosen = ", ".join((timestamp if col.type == "TIMESTAMP" else '"{0}"').format(col.name) for col in columns)
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


_NAME = "dataset.json"


class About(msgspec.Struct, frozen=True):
    """A dataset's description."""

    version: int
    shares: int
    tree: list[str]


class Dataset:
    """A folder that several processes may fill at once, each with its own shares."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, tree: list[str]) -> None:
        """Create the dataset, or check that it was made from the same logs."""
        about = About(VERSION, SHARES, sorted(tree))
        stored = self.about()
        if stored is None:
            if self.folder.exists() and any(self.folder.iterdir()):
                raise UsageError(f"{self.folder} contains other files; name an empty folder")
            atomic.replace(self.folder / _NAME, msgspec.json.encode(about) + b"\n", atomic.AS_USUAL)
        elif stored != about:
            was = ", ".join(stored.tree)
            raise UsageError(f"{self.folder} was made from {was} (version {stored.version}); name another folder")

    def about(self) -> About | None:
        """The description of the dataset; None if there is none."""
        try:
            return msgspec.json.decode((self.folder / _NAME).read_bytes(), type=About)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as fault:
            raise NooscopeError(f"{self.folder / _NAME} cannot be read ({fault})") from None

    def put(self, written: Written) -> int:
        """Put the files of a share in place of those it had; the bytes."""
        new = {place for place, _ in written.files}
        for place, content in written.files:
            atomic.replace(self.folder / place, content, atomic.AS_USUAL)
        for table in TABLES:
            for path in self.folder.glob(f"{table}/*/*/share-{written.number:04d}.parquet"):
                if str(path.relative_to(self.folder)) not in new:
                    path.unlink()
        return sum(len(content) for _, content in written.files)


T = TypeVar("T")
_AGAIN = 3  # Times a share that failed is tried again.
_PATIENCE = 15


@contextlib.contextmanager
def cluster(address: str, workers: int) -> Iterator[Any]:
    """A client of the scheduler at an address; `local` starts a cluster on this machine."""
    distributed = needed("distributed", "batch")
    if address != "local" and "://" not in address:
        raise UsageError(f"--on takes local, or a scheduler such as tcp://host:8786, not {address!r}")
    with contextlib.ExitStack() as stack:
        at: Any = address
        if address == "local":
            chosen = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
            at = stack.enter_context(distributed.LocalCluster(n_workers=workers, threads_per_worker=1, **chosen))
        try:
            client = distributed.Client(at, timeout=_PATIENCE)
        except (OSError, TimeoutError) as fault:
            raise NooscopeError(f"cannot reach the scheduler at {address}: {fault}") from None
        yield stack.enter_context(client)


def done_by(client: Any, work: Callable[[Any], T], items: Sequence[Any]) -> Iterator[T]:
    """`work(item)` of every item, as they are done."""
    distributed = needed("distributed", "batch")
    futures = client.map(work, items, pure=False, retries=_AGAIN)
    for future in distributed.as_completed(futures):
        try:
            yield future.result()
        except Exception as fault:
            raise NooscopeError(f"a worker failed: {type(fault).__name__}: {fault}") from fault
        future.release()


class Question(NamedTuple):
    """A question that many have."""

    about: str
    sql: str


QUESTIONS: dict[str, Question] = {
    name: Question(**question)
    for name, question in tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8")).items()
}


class QueryResult(NamedTuple):
    """Names of columns, and rows."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def ask(folder: Path, question: str) -> QueryResult:
    """Answer a question by its name or in SQL."""
    duckdb = needed("duckdb", "batch")
    if Dataset(folder).about() is None:
        raise UsageError(
            f"{folder} contains no dataset; create one with: nooscope inspect analyze TREE --parquet FOLDER"
        )
    if question not in QUESTIONS and not any(map(str.isspace, question.strip())):
        raise UsageError(f"no question is named {question!r}; available: {', '.join(QUESTIONS)}; or write SQL")
    sql = QUESTIONS[question].sql if question in QUESTIONS else question
    place = _sql_quoted(folder.resolve())
    with duckdb.connect(":memory:") as base:
        try:
            for table in TABLES:
                base.execute(_view(table, place, any((folder / table).glob("*/*/*.parquet"))))
            base.execute(f"SET allowed_directories = ['{place}/']")
            base.execute("SET enable_external_access = false")
            base.execute("SET lock_configuration = true")
            statements = base.extract_statements(sql)
            queries = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
            if len(statements) != 1 or statements[0].type not in queries:
                raise UsageError("write one query that begins with SELECT, WITH, FROM, DESCRIBE or EXPLAIN")
            result = base.execute(statements[0])
            names = tuple(each[0] for each in result.description or ())
            return QueryResult(names, result.fetchall())
        except duckdb.Error as fault:
            raise UsageError(f"{fault}\nThe tables are {', '.join(TABLES)}.") from None


def _view(table: str, place: str, filled: bool) -> str:
    if filled:
        files = f"read_parquet('{place}/{table}/*/*/*.parquet', hive_partitioning = true, union_by_name = true)"
        return f"CREATE VIEW {table} AS SELECT * FROM {files}"  # noqa: S608 our own names
    columns = ", ".join(f'NULL::{col.type} AS "{col.name}"' for col in TABLES[table])
    return f"CREATE VIEW {table} AS SELECT {columns}, NULL::VARCHAR AS agent, NULL::DATE AS day WHERE false"
