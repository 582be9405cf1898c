"""Goose's database and logs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import structs

from core.agents.calls import Calls, Result, cut_exit, exit_code
from core.agents.reader import TranscriptReader, holds_table
from core.agents.tables import known_words, word_list
from core.agents.values import TokenCounts, attached_to, items, table, text, token_counts, whole_number, words
from core.engine.values import fingerprint
from core.logs.database import Rows, RowsRead, json_row, numbers, reading, select
from core.logs.discovery import Found, Listed, database_sessions, file_session
from core.logs.format import Format, Sample
from core.logs.lines import seconds
from core.logs.log_files import is_file

_SESSION = word_list("goose-sessions")
_MESSAGE = ("id", "message_id", "session_id", "role", "created_timestamp", "metadata_json", "content_json")

_OWN_COLUMNS = {"content_json", "session_id", "role"}  # Of the table of messages.


def goose_rows(path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False) -> Rows:
    """The messages of a database, each session after its row and before what it spent.

    Messages are only ever added, or all of a session's added again with new numbers: of a session that was
    `read` before only what came since is. With `heads`, the sessions' own rows alone.
    """
    chosen = ("WHERE id = ?", (session,)) if session else ("ORDER BY created_at, rowid", ())
    with reading(path) as database:
        for one in list(select(database, "sessions", _SESSION, *chosen)):
            yield json_row("sessions", one, _JSON)
            if not heads:
                messages = _messages(database, one["id"], read if session else None)
                yield from (json_row("messages", message, _JSON) for message in messages)
                yield json_row("spent", one, _JSON)


def _messages(database: sqlite3.Connection, session: str, read: RowsRead | None) -> Iterable[dict[str, Any]]:
    if read is not None and read.goes_on(database, ("messages",)):
        messages = read.of("messages").changed(database, _MESSAGE)
        return [one for one in messages if one["session_id"] == session]
    return select(database, "messages", _MESSAGE, "WHERE session_id = ? ORDER BY id", (session,))


def goose_listing(path: Path) -> list[Listed]:
    """The sessions of a database; each message is about one event."""
    with reading(path) as database:
        sessions = list(select(database, "sessions", _SESSION, "ORDER BY created_at, rowid"))
        messages = numbers(database, "messages")
    return [
        Listed(
            str(one["id"]),
            text(one.get("working_dir")),
            text(one.get("name")) or text(one.get("description")),
            seconds(one.get("updated_at")),
            1 + messages.get(str(one["id"]), 0),
        )
        for one in sessions
    ]


_JSON = {name: name.removesuffix("_json") for name in ("model_config_json", "metadata_json", "content_json")}
_SURVEY_MESSAGE = 2_000  # Bytes that a message takes up, by and large.


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Sessions of the database, and files that are not in it."""
    listed = list(database_sessions(agent, root / "sessions.db", goose_listing, now, active_within))
    yield from listed
    listed_ids = {one.session for one in listed}
    for file in root.glob("*.jsonl"):
        if file.stem not in listed_ids and is_file(file):
            try:
                yield file_session(agent, file, _SURVEY_MESSAGE, now, active_within)
            except OSError:
                continue


_REFUSED = re.compile(r"(?:user|has) declined|declined to run|was not approved|denied by", re.IGNORECASE)
_EXIT = re.compile(r"(?:\A|\n)(?:Command exited with code|Exit code:?) (-?\d{1,9})\b")


class GooseReader(TranscriptReader):
    """A compaction rewrites all messages, so those already read are recognized by their content."""

    name = "goose"
    untold = ("cost",)
    gaps = "tokens per session, not per answer"
    many = True
    # Of parts.
    kinds = known_words("goose")
    rows = staticmethod(goose_rows)  # How a database is fed to this reader.
    listing = staticmethod(goose_listing)

    def setup(self) -> None:
        self._read_keys: set[tuple[Any, ...]] = set()
        self._spent: dict[str, tuple[int, int, int]] = {}
        self._priced = False
        self._aside = False

    def read(self, value: Any) -> None:
        """Add the events of one row or line."""
        row = self.table(value, "record")
        match row.get("table"):
            case "sessions":
                self._session(row)
            case "spent":
                self._spend(row)
            case "messages":
                self._message(row, row.get("created_timestamp"))
            case _ if "role" in row:
                self._message(row, row.get("created"))
            case _:
                self._header(row)

    def _header(self, row: dict[str, Any]) -> None:
        """Read the first line of a file, which has no time."""
        if "working_dir" not in row and "description" not in row:
            self.note("neither session nor message")
        self.calls.project = text(row.get("working_dir"))

    def _session(self, row: dict[str, Any]) -> None:
        name = text(row.get("id"))
        self.model = text(table(row.get("model_config")).get("model_name")) or self.model
        counted = whole_number(row.get("accumulated_input_tokens"))
        self._priced = counted > 0 and self.kit.models.cost(self.model, 1, 1, 0, 0) is not None
        if self.begun and name == self.session:
            return
        if self.begun:
            self.add(*self.close_all())
            self.calls = Calls(self.kit, self.name)
            self._read_keys.clear()
        self.now = self.time_of(row.get("created_at"))
        self.begin(name, project=row.get("working_dir"))

    def _message(self, row: dict[str, Any], created: Any) -> None:
        at = self.moment(created)
        if not self.begun:
            self.begin("", project=self.calls.project)
        parts = self.placed(row.get("content"), "content")
        self.check_parts(part for _, part in parts)
        message_text = "\n".join(text(part.get("text")) for _, part in parts if part.get("type") == "text")
        if _agent_only(row):
            self._compacted(at, message_text)
            return
        self._aside = False
        calls = tuple(text(part.get("id")) for _, part in parts if "Re" in text(part.get("type")))
        key = (text(row.get("role")), at, fingerprint(message_text), calls)
        if key in self._read_keys:
            return
        self._read_keys.add(key)
        if row.get("role") == "assistant":
            name = "/".join(str(part) for part in key[1:3]) if not calls else calls[0]
            turn = self.turn(message_text, message=f"turn/{name}")
            context = self._spent.get(self.session, (0, 0, 0))[2]
            self.add(structs.replace(turn, context_tokens=context, cost=0.0 if self._priced else None))
        elif row.get("role") == "user":
            message_text = message_text if message_text.strip() else attached_to(part for _, part in parts)
            self.add(self.prompt(message_text) if message_text else None)
        for place, part in parts:
            self._part(f"{self._line}/{place}", part)

    def _part(self, place: str, part: dict[str, Any]) -> None:
        name = text(part.get("id")) or place
        if part.get("type") in ("toolRequest", "frontendToolRequest"):
            call = self.table(part.get("toolCall"), "toolCall")
            request = table(call.get("value"))
            tool = text(request.get("name")) or "invalid"
            is_new = self.calls.begin(name, tool, request.get("arguments"), self.now, self.agent, self.here())
            if is_new and call.get("status") == "error":
                self.result(name, Result(words(call.get("error")), error=True))
        elif part.get("type") == "toolResponse":
            self.result(name, _judged(self.table(part.get("toolResult"), "toolResult")))

    def _compacted(self, at: float, summary: str) -> None:
        """The summary and what goes with it are for the agent alone, one after the other."""
        key = ("compaction", at, fingerprint(summary))
        if not self._aside and key not in self._read_keys and summary.strip():
            self.add(self.compaction())
        self._read_keys.add(key)
        self._aside = True

    def _spend(self, row: dict[str, Any]) -> None:
        """Add what a session spent since the last reading, and its context now."""
        name = text(row.get("id"))
        names = ("accumulated_input_tokens", "accumulated_output_tokens", "total_tokens")
        sent, written, context = totals = token_counts(row, *names)[:3]
        before = self._spent.get(name, (0, 0, 0))
        if totals == before:
            return
        self._spent[name] = totals
        tokens = TokenCounts(max(0, sent - before[0]), max(0, written - before[1]))
        cost = self.kit.models.cost(self.model, *tokens, several=True)
        name = f"spent/{name}/{sent}/{written}/{context}"
        turn = self.turn("", tokens=tokens, message=name, cost=cost, stop="total")
        self.add(self.with_context(turn, context))


def _agent_only(row: dict[str, Any]) -> bool:
    metadata = table(row.get("metadata"))
    return metadata.get("userVisible") is False and metadata.get("agentVisible") is True


def _judged(facts: dict[str, Any]) -> Result:
    value = facts.get("value")
    failed = facts.get("status") == "error"
    inner = table(value)
    output = words(facts.get("error")) if failed else words(inner.get("content") if inner else value)
    error = failed or inner.get("isError") is True
    exited = exit_code(output)
    if exited is None and error:
        _, exited = cut_exit(output, _EXIT, 300)
    refused = bool(_REFUSED.search(output[:300])) and len(output) < 600
    return Result(text=output, error=error, exit_code=exited, rejected=refused)


def _lines(sample: Sample) -> int:
    """A header with a folder and a description, or messages with requests of its kind."""
    records = sample.records[:8]
    if not records:
        return 0
    first = records[0]
    if "working_dir" in first and "role" not in first and {"description", "message_count"} & first.keys():
        return 92
    messages = [record for record in records if "created" in record]
    kinds = {text(table(part).get("type")) for message in messages for part in items(message.get("content"))}
    return 85 if kinds & {"toolRequest", "toolResponse"} else 0


FORMATS = (
    Format("goose", "database", holds_table("messages", _OWN_COLUMNS, "sessions"), GooseReader),
    Format("goose", "lines", _lines, GooseReader),
)
