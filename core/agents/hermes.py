"""Hermes: rows of its database, and the message lists of its older versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from core.agents.reader import NO_TOKENS, TranscriptReader, holds_table, read_result
from core.agents.tables import word_list
from core.agents.values import amount, decode_inner, items, table, text, token_counts, words
from core.logs.database import Rows, RowsRead, json_row, numbers, reading, select
from core.logs.discovery import Found, Listed, database_sessions, file_session
from core.logs.format import Format, Sample
from core.logs.lines import seconds

# Sources of coding work; the same table contains chats of messengers and timed jobs.
_CODING = ("cli", "tui", "subagent", "")
_SESSION = word_list("hermes-sessions")
_MESSAGE = word_list("hermes-messages")
_EVENT = 700  # Bytes that an event takes up in a file, by and large.
_OWN_COLUMNS = {"tool_call_id", "tool_calls", "session_id", "role"}  # Of the table of messages.
_REPORT = "[ASYNC DELEGATION"  # The beginning of a background sub-agent's report, which is in the person's name.


class HermesReader(TranscriptReader):
    """Results are mostly JSON with the call's end; tokens are counted per session."""

    name = "hermes"
    gaps = "tokens and cost per session; questions and permissions are not recorded"
    many = True
    kinds = frozenset(("user", "assistant", "tool", "system", "session_meta"))  # Roles of messages.

    def setup(self) -> None:
        self._spent: dict[str, tuple[int, ...]] = {}

    def read(self, value: Any) -> None:
        """Add the events of one row, one line, or one document of messages."""
        row = self.table(value, "record")
        if row.get("table") == "sessions":
            self._session(row)
        elif row.get("table") == "spent":
            self._spend(row)
        elif isinstance(row.get("messages"), list):
            self._document(row)
        else:
            self._message(row, f"line-{self._line}")

    def _document(self, row: dict[str, Any]) -> None:
        self.moment(row.get("session_start"), row.get("started_at"))
        self.model = text(row.get("model"))
        self.begin(row.get("session_id"))
        for place, message in self.placed(row["messages"], "messages"):
            self.enter(f"/messages/{place}")
            self._message(message, f"message-{place}")

    def _session(self, row: dict[str, Any]) -> None:
        name = text(row.get("id"))
        self.model = text(row.get("model"))
        if self.begun and name == self.session:
            return
        self.add(*self.close_all())
        self.now = seconds(row.get("started_at")) or self.now
        branch, parent = row.get("git_branch"), row.get("parent_session_id")
        self.begin(name, project=row.get("cwd"), branch=branch, parent=parent)

    def _message(self, row: dict[str, Any], place: str) -> None:
        stamp = row.get("timestamp")
        if not self.begun:
            self.moment(stamp)
            self.model = text(row.get("_model"))
            self.begin("", project=row.get("_cwd"))
        elif stamp is not None:
            self.moment(stamp)
        name = f"{self.session}/{row.get('id') or place}"
        if row.get("active") == 0 or not self.is_new(name):
            return
        content = row.get("content")
        self.check_kind(text(row.get("role")))
        match row.get("role"):
            case "user" if not text(row.get("display_kind")) and not words(content).startswith(_REPORT):
                self.add(self.prompt(words(content)))
            case "assistant":
                stop = text(row.get("finish_reason"))
                stop = {"tool_calls": "tool_use", "stop": "end_turn"}.get(stop, stop)
                self.answer(words(content), message=name, stop=stop)
                self.function_calls(items(decode_inner(row.get("tool_calls"))), name)
            case "tool":
                self.result(text(row.get("tool_call_id")), read_result(content))

    def _spend(self, row: dict[str, Any]) -> None:
        """Add what a session spent since the last reading."""
        totals = token_counts(row, "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        before = self._spent.get(self.session, NO_TOKENS)
        if totals == before:
            return
        self._spent[self.session] = totals
        cost = amount(row.get("actual_cost_usd")) or amount(row.get("estimated_cost_usd"))
        cost = cost if not any(before) else None
        name = f"spent/{self.session}/{'/'.join(map(str, totals))}"
        self.add(self.total(self.model, cost, totals.since(before), name))

    @staticmethod
    def listing(path: Path) -> list[Listed]:
        """Return the sessions of a database."""
        with reading(path) as database:
            sessions, messages = list(_sessions(database)), numbers(database, "messages")
        changed = path.stat().st_mtime
        return [
            Listed(name, text(one.get("cwd")), text(one.get("title")), seconds(one.get("ended_at")) or changed, count)
            for one in sessions
            for name in (str(one["id"]),)
            for count in (1 + messages.get(name, 0),)
        ]

    @staticmethod
    def rows(path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False) -> Rows:
        """The messages of a database, each session after its row and before what it spent."""
        with reading(path) as database:
            for one in _sessions(database):
                if session not in ("", one["id"]):
                    continue
                yield json_row("sessions", one)
                if heads:
                    continue
                if session and read is not None and read.goes_on(database, ("messages",)):
                    listed: Iterable[dict[str, Any]] = read.of("messages").changed(database, _MESSAGE)
                else:
                    rest = "WHERE session_id = ? ORDER BY id"
                    listed = select(database, "messages", _MESSAGE, rest, (one["id"],))
                yield from (json_row("messages", row) for row in listed if row["session_id"] == one["id"])
                yield json_row("spent", one)


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The sessions of the database below a root and of each profile, and the files of older versions."""
    for path in root.glob("sessions/*.json*"):
        yield file_session(agent, path, _EVENT, now, active_within)
    for path in (root / "state.db", *sorted(root.glob("profiles/*/state.db"))):
        yield from database_sessions(agent, path, HermesReader.listing, now, active_within)


def _sessions(database: Any) -> Iterator[dict[str, Any]]:
    for one in list(select(database, "sessions", _SESSION, "ORDER BY started_at, rowid")):
        if text(one.get("source")) in _CODING:
            yield one


def _lines(sample: Sample) -> int:
    """Rows of its messages, one per line."""
    columns = {"role", "tool_call_id", "tool_name", "finish_reason"}
    entries = sample.records[:6]
    return 90 if entries and all(columns <= one.keys() for one in entries) else 0


def _document(sample: Sample) -> int:
    value = table(sample.document)
    return 70 if isinstance(value.get("messages"), list) and "session_start" in value else 0


FORMATS = (
    Format("hermes", "database", holds_table("messages", _OWN_COLUMNS, "sessions"), HermesReader),
    Format("hermes", "lines", _lines, HermesReader),
    Format("hermes", "document", _document, HermesReader),
)
