"""OpenClaw and its earlier names: pi's lines, in files or in a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.pi import PiLinks, PiReader, pi_title
from core.agents.reader import holds_table
from core.agents.values import table
from core.logs.database import DatabaseRow, RowsRead, reading, select
from core.logs.decoding import seconds
from core.logs.discovery import Found, Listed, database_sessions, file_session
from core.logs.format import Format, Sample

# Where it keeps its sessions, under the names it has had.
FOLDERS = (".openclaw", ".clawdbot", ".moltbot", ".moldbot", ".kimi_openclaw", ".qclaw")
_EVENTS = "transcript_events"
_EVENT = 700  # Bytes that an event takes up in a log, by and large.


class OpenClawReader(PiReader):
    """Since 2026.9 the lines are rows of a database, unchanged."""

    name = "openclaw"
    gaps = "waiting for the person is not recorded"
    many = True

    def setup(self) -> None:
        self._rows: set[str] = set()  # The rows that were read: a look at a growing database repeats the newest.

    def read(self, value: Any) -> None:
        """Add the events of one entry; in a database another session may begin."""
        row = self.here().entry
        if row in self._rows:
            return
        self._rows.update([row] if row else [])
        entry = table(value)
        if self.begun and entry.get("type") == "session" and entry.get("id") != self.session:
            self.add(*self.close_all())
            self.begun = False
        super().read(value)
        if row:
            self._open(None)

    @staticmethod
    def rows(
        path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False
    ) -> Iterator[DatabaseRow]:
        """Yield the lines of a database's sessions; its other tables contain credentials and are not read."""
        columns = ("rowid", "session_id", "seq", "event_json")
        with reading(path) as database:
            if session and read is not None and read.goes_on(database, (_EVENTS,)):
                rows = [row for row in read.of(_EVENTS).changed(database, columns) if row["session_id"] == session]
            else:
                chosen = ("WHERE session_id = ? ORDER BY seq", (session,)) if session else ("ORDER BY rowid", ())
                rows = list(select(database, _EVENTS, columns, *chosen))
        opened: set[Any] = set()
        for row in rows:
            if heads and row["session_id"] in opened:
                continue
            opened.add(row["session_id"])
            data = str(row.get("event_json") or "{}").encode("utf-8", "replace")
            yield DatabaseRow(data, f"{_EVENTS}/{row.get('rowid')}")


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The sessions below a root: files of each agent, and rows of its database."""
    for path in root.glob("*/sessions/*.jsonl"):
        yield file_session(agent, path, _EVENT, now, active_within)
    for path in root.glob("*/agent/openclaw-agent.sqlite"):
        yield from database_sessions(agent, path, _listed, now, active_within)


def _listed(path: Path) -> list[Listed]:
    statement = f"SELECT session_id, count(*), max(created_at) FROM {_EVENTS} GROUP BY session_id"  # noqa: S608
    with reading(path) as database:
        rows = database.execute(statement).fetchall()
    return [Listed(str(name), "", "", seconds(last), count) for name, count, last in rows]


def _lines(sample: Sample) -> int:
    is_named = any(part in FOLDERS for part in sample.path.parts) or b"openclaw" in sample.head[:2000]
    first = sample.records[0] if sample.records else {}
    return 97 if is_named and first.get("type") == "session" and "id" in first else 0


FORMATS = (
    Format("openclaw", "lines", _lines, OpenClawReader, links=PiLinks, titles=pi_title),
    Format("openclaw", "database", holds_table(_EVENTS, {"event_json"}, "session_windows"), OpenClawReader),
)
