"""The work on a tree in shares that do not depend on who does them, and one share from logs to Parquet."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote

import msgspec
from blake3 import blake3

from core.batch.rows import dataset_session_id, put_session
from core.batch.schema import TABLES, Col
from core.extras import needed
from core.logs.session import LogSession
from core.timeline.run_inputs import RunInputs

SHARES = 1024
"""Into how many shares sessions fall by the hash of their ids; a share is one file a table, agent and day."""
_OPEN = 200
"""Files of rows that are open at once."""


class SessionShare(NamedTuple):
    """One session, where it starts, and which copy of its id it is."""

    session: LogSession
    start: RunInputs
    copy: int


class Share(NamedTuple):
    """Sessions that are written together."""

    number: int
    tasks: tuple[SessionShare, ...]


class Written(NamedTuple):
    """What became of a share: files by their place in the dataset, and what is in them."""

    number: int
    files: tuple[tuple[str, bytes], ...]
    sessions: int
    events: int
    skipped: int


def shares(
    sessions: Sequence[LogSession], start: Callable[[str], RunInputs], part: tuple[int, int] = (1, 1)
) -> list[Share]:
    """The shares of these sessions; of a part such as (3, 16) only every sixteenth, from the third on."""
    held: dict[int, list[SessionShare]] = {}
    met: Counter[tuple[str, str]] = Counter()
    for session in sorted(sessions, key=lambda one: str(one.path)):
        copy = met[session.tool, session.id]
        met[session.tool, session.id] += 1
        number = int(blake3(dataset_session_id(session).encode()).hexdigest(length=4), 16) % SHARES
        if number % part[1] == part[0] - 1:
            held.setdefault(number, []).append(SessionShare(session, start(session.id), copy))
    return [Share(number, tuple(tasks)) for number, tasks in sorted(held.items())]


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
                base.execute(_copy(TABLES[table], path, target))
                place = f"{table}/agent={quote(agent, safe='')}/day={day}/{name}"
                files.append((place, target.read_bytes()))
        return tuple(files)


def _copy(columns: tuple[Col, ...], source: Path, target: Path) -> str:
    """The statement that turns lines into Parquet, with our types and our order of columns."""
    read = ", ".join(
        f"'{col.name}': '{'DOUBLE' if col.type == 'TIMESTAMP' else col.type}'" for col in columns
    )
    chosen = ", ".join(
        f'make_timestamp(CAST(round("{col.name}" * 1e6) AS BIGINT)) AS "{col.name}"'
        if col.type == "TIMESTAMP"
        else f'"{col.name}"'
        for col in columns
    )
    lines = f"read_json('{_quoted(source)}', format='newline_delimited', columns={{{read}}})"
    return (
        f"COPY (SELECT {chosen} FROM {lines}) TO '{_quoted(target)}' "  # noqa: S608 our own names
        "(FORMAT parquet, COMPRESSION zstd)"
    )


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
