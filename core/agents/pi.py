"""pi's session log; and OpenClaw under its several names, which has pi's lines in files or in a database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.calls import Result, cut_exit, is_advice, said_event
from core.agents.reader import LateReader, holds_table
from core.agents.registry import OPENCLAW_FOLDERS
from core.agents.tables import known_words
from core.agents.values import amount, code, items, table, text, token_counts, whole_number, words
from core.logs.database import DatabaseRow, Rows, RowsRead, reading, select
from core.logs.discovery import Found, Listed, database_sessions, file_session
from core.logs.format import Format, Sample
from core.logs.glimpse import Title, read_title
from core.logs.lines import seconds
from core.logs.links import LONGEST_LABEL, NOTHING, Envelope, Link, LinkReader, as_text, turn
from core.logs.records import Log, Record
from core.logs.redact.values import one_line


class PiLinks(LinkReader):
    """Entries form a tree under the header; those of the first version have no ids."""

    def __init__(self, log: Log) -> None:
        super().__init__(log)
        self._header: str | None = None

    def follow(self, envelope: Envelope, record: Record) -> Link:
        """The link of one entry."""
        kind, message = turn(envelope)
        name = as_text(envelope.id)
        if kind == "start":
            link = self.link(record, name or self.name(record), None, kind, "main", message)
            self._header = link.id
            return link
        if not name or envelope.parent_id is NOTHING:
            return self.link(record, name or self.name(record), self.last, kind, "main", message)
        parent = as_text(envelope.parent_id) or self._header
        link = self.link(record, name, parent, kind, "main", message)
        target = as_text(envelope.target_id) if kind == "label" else ""
        return link._replace(label=one_line(as_text(envelope.label, LONGEST_LABEL * 8), LONGEST_LABEL), labels=target)


_ROLES = frozenset(("system", "custom", "hookMessage", "branchSummary", "compactionSummary"))  # Without an event.
_EXIT = re.compile(r"(?:\A|\n)Command exited with code (\d{1,9})\s*\Z")
_ABORTED = re.compile(r"(?:\A|\n)(?:Command|Operation) aborted\s*\Z")


class PiReader(LateReader):
    """Every entry happened, whatever its branch, so entries are read in file order."""

    name = "pi"
    kinds = known_words("pi")

    def read(self, value: Any) -> None:
        """Add the events of one entry."""
        entry = self.table(value, "entry")
        if self._opening is not None:
            self._open(seconds(entry.get("timestamp")))
        self.check_kind(text(entry.get("type")))
        match entry.get("type"):
            case "session":
                self._header(entry)
            case "message":
                self._message(entry, self.table(entry.get("message"), "message"))
            case "custom_message" if entry.get("customType") == "nooscope":
                advice = words(entry.get("content"))
                if is_advice(advice):
                    at = self.moment(entry.get("timestamp"))
                    self.add(said_event(advice, at, self.agent, self.here()))
            case "compaction":
                self.moment(entry.get("timestamp"))
                self.add(self.compaction(before=entry.get("tokensBefore")))

    def _header(self, entry: dict[str, Any]) -> None:
        at = self.moment(entry.get("timestamp"))
        if not self.begun:
            self._opening = (entry, at, self.here())

    def _open(self, first: float | None) -> None:
        """A header written after the entries below it does not make the session begin after them."""
        if self._opening is None:
            return
        entry, at, where = self._opening
        self._opening = None
        at = at if first is None else min(at, first)
        parent = text(entry.get("parentSession")).replace("\\", "/").rpartition("/")[2]
        parent = parent.removesuffix(".jsonl").rpartition("_")[2]
        facts = {"project": entry.get("cwd"), "model": entry.get("modelId"), "parent": parent}
        self.begin(entry.get("id"), at=at, where=where, version=str(whole_number(entry.get("version")) or 1), **facts)

    def _message(self, entry: dict[str, Any], message: dict[str, Any]) -> None:
        at = self.moment(entry.get("timestamp"), message.get("timestamp"))
        self.check_parts(items(message.get("content")))
        match message.get("role"):
            case "user":
                self.add(self.prompt(words(message.get("content"))))
            case "assistant":
                self._answer(text(entry.get("id")), message)
            case "toolResult":
                output = words(message.get("content"))
                result = _result(output, message.get("isError"), text(message.get("toolName")))
                self.result(text(message.get("toolCallId")), result)
            case "bashExecution":
                exited, stopped = code(message.get("exitCode")), message.get("cancelled") is True
                result = Result(text(message.get("output")), exit_code=exited, rejected=stopped)
                run = {"command": text(message.get("command"))}
                name = f"bash-{text(entry.get('id')) or at}"
                self.add(self.whole_call(name, "bashExecution", run, result))
            case role if text(role) not in _ROLES:
                self.skip(f"message/{role}")

    def _answer(self, name: str, message: dict[str, Any]) -> None:
        usage = self.table(message.get("usage"), "usage")
        stop = text(message.get("stopReason"))
        tokens = token_counts(usage, "input", "output", "cacheRead", "cacheWrite")
        model, cost = text(message.get("model")), amount(table(usage.get("cost")).get("total"))
        said = words(message.get("content"))
        self.add(self.turn(said, message=name, model=model, tokens=tokens, cost=cost, stop=stop))
        self.part_calls(self.objects(message.get("content"), "content"), "toolCall", "arguments")
        if stop in ("aborted", "error"):  # The calls of such an answer never run.
            for use in self.calls.unanswered():
                self.result(use.id, Result(collateral=stop == "error", rejected=stop == "aborted"))
        if stop == "aborted":
            self.add(self.prompt("", interrupt=True))


def _result(output: str, error: Any, tool: str) -> Result:
    shell = tool == "bash"
    bare, exited = cut_exit(output, _EXIT, 200) if error or shell else (output, None)
    if exited is not None:
        return Result(text=bare, error=True, exit_code=exited)
    if error and _ABORTED.search(output[-200:]):
        return Result(text=output, error=True, rejected=True)
    return Result(text=output, error=error is True, exit_code=0 if shell and not error else None)


def _sniff(sample: Sample) -> int:
    """A header of type session, or messages wrapped in entries."""
    entries = sample.records[:8]
    if not entries:
        return 0
    first = entries[0]
    if first.get("type") == "session" and "id" in first and ("cwd" in first or "version" in first):
        return 95
    wrapped = [table(entry.get("message")).get("role") for entry in entries if entry.get("type") == "message"]
    return 60 if any(role in ("toolResult", "bashExecution") for role in wrapped) else 0


def pi_title(entry: dict[str, Any]) -> Title | None:
    """The name the person gave the session."""
    title = text(entry.get("name")) if entry.get("type") == "session_info" else ""
    return Title(3, title) if title else None


FORMATS = (Format("pi", "lines", _sniff, PiReader, links=PiLinks, titles=pi_title),)


_EVENTS = "transcript_events"
_FIRST_LINES = "WHERE session_id = ? ORDER BY seq LIMIT 64"  # In which a title is looked for.
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
    def listing(path: Path) -> list[Listed]:
        """Return the sessions of a database, each with the title that its first lines give it."""
        listed = []
        with reading(path) as database:
            statement = f"SELECT session_id, count(*), max(created_at) FROM {_EVENTS} GROUP BY session_id"  # noqa: S608
            for name, count, last in database.execute(statement).fetchall():
                first = select(database, _EVENTS, ("event_json",), _FIRST_LINES, (name,))
                beginning = b"\n".join(str(row["event_json"]).encode("utf-8", "replace") for row in first)
                listed.append(Listed(str(name), "", read_title(beginning, b"", pi_title), seconds(last), count))
        return listed

    @staticmethod
    def rows(path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False) -> Rows:
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
        yield from database_sessions(agent, path, OpenClawReader.listing, now, active_within)


def _openclaw_lines(sample: Sample) -> int:
    is_named = any(part in OPENCLAW_FOLDERS for part in sample.path.parts) or b"openclaw" in sample.head[:2000]
    first = sample.records[0] if sample.records else {}
    return 97 if is_named and first.get("type") == "session" and "id" in first else 0


OPENCLAW = (
    Format("openclaw", "lines", _openclaw_lines, OpenClawReader, links=PiLinks, titles=pi_title),
    Format("openclaw", "database", holds_table(_EVENTS, {"event_json"}, "session_windows"), OpenClawReader),
)
