"""Kiro: lines of its CLI, conversations of the older CLI and of Amazon Q, and sessions of its editor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from core.agents.calls import Result
from core.agents.models import CALLING, ENDED
from core.agents.reader import TranscriptReader, left_untold, read_result, sidecar
from core.agents.values import items, table, text, words
from core.logs.database import MAGIC, DatabaseRow, Rows, RowsRead, reading, select, tables
from core.logs.discovery import Found, Listed, database_sessions, file_session
from core.logs.format import Format, Sample
from core.logs.lines import decoded, seconds

_TABLES = ("conversations_v2", "conversations")
_FIRST_PROMPT = re.compile(r'"prompt"\s*:\s*("(?:[^"\\]|\\.)*")')
_EVENT = 900  # Bytes that an event takes up in a log, by and large.
_ROW = ("rowid", "key", "conversation_id", "value", "created_at", "updated_at")


class KiroReader(TranscriptReader):
    """Only prompts have times; a call is answered at the time of the prompt before it."""

    name = "kiro"
    untold = ("tokens", "cost")
    gaps = "times only for prompts; results of the older CLI and the editor only if they were stored"

    many = True
    kinds = frozenset(("Prompt", "AssistantMessage", "ToolResults", "Clear", "Compaction", "ResetTo"))

    def setup(self) -> None:
        self._read = 0  # The number of turns already read; a database has a conversation as one growing row.
        self._called: list[str] = []  # The calls of the turn before, whose results may come without ids.

    def read(self, value: Any) -> None:
        """Add the events of one line, or of a whole conversation."""
        record = self.table(value, "record")
        if "history" in record:
            self._conversation(record)
            return
        data = self.table(record.get("data"), "data")
        stamp = seconds(table(data.get("meta")).get("timestamp"))
        if stamp is not None:
            self.moment(stamp)
        if not self.begun:
            self._open()
        content = data.get("content")
        self.check_kind(text(record.get("kind")))
        self.check_parts(items(content), "kind")
        match record.get("kind"):
            case "Prompt":
                self.add(self.prompt(_content_text(content)))
            case "AssistantMessage":
                self._answer(text(data.get("message_id")), content)
            case "ToolResults":
                self._results(data)
            case "Clear":
                self.add(*self.close_all())

    def _open(self) -> None:
        place = self.here()
        facts = sidecar(place.file, f"{Path(place.file).stem}.json")
        state = table(facts.get("session_state"))
        model = table(table(state.get("rts_model_state")).get("model_info")) or table(facts.get("model_info"))
        self.model = text(model.get("model_id"))
        self.now = self.now or seconds(facts.get("created_at")) or 0.0
        project, parent, synthetic = facts.get("cwd"), facts.get("parent_session_id"), not self.now
        self.begin(facts.get("session_id"), project=project, parent=parent, synthetic_time=synthetic)

    def _answer(self, name: str, content: Any) -> None:
        parts = self.objects(content, "content")
        calls = [table(part.get("data")) for part in parts if part.get("kind") == "toolUse"]
        self.answer(_content_text(content), message=name, stop=CALLING if calls else ENDED)
        for call in calls:
            self.call(text(call.get("toolUseId")), text(call.get("name")), call.get("input"))

    def _results(self, data: dict[str, Any]) -> None:
        more = table(data.get("results"))
        for part in self.objects(data.get("content"), "content"):
            facts = table(part.get("data"))
            name = text(facts.get("toolUseId"))
            stopped = table(more.get(name)).get("result") == "Cancelled"
            result = _result(facts.get("content"), failed=facts.get("status") == "error", stopped=stopped)
            self.result(name, result, timed=False)

    def _conversation(self, record: dict[str, Any]) -> None:
        """A conversation of the older CLI, or a session of the editor, as one document."""
        turns = [(f"/history/{place}", turn) for place, turn in self.placed(record["history"], "history")]
        users = [table(turn.get("user")) for _, turn in turns]
        began = next((at for user in users if (at := seconds(user.get("timestamp"))) is not None), None)
        began = seconds(record.get("created_at")) if began is None else began
        self.now = began or 0.0
        states = (table(table(user.get("env_context")).get("env_state")) for user in users)
        folders = (text(state.get("current_working_directory")) for state in states)
        project = text(record.get("key")) or next(filter(None, folders), "")
        self.model = text(table(record.get("model_info")).get("model_id")) or text(record.get("model"))
        name = text(record.get("conversation_id")) or text(record.get("sessionId"))
        if not self.begun or name != self.session:
            self.add(*self.close_all())
            self._read = 0
            project = project or text(record.get("workspacePath"))
            untold = left_untold(times=began, tokens=False, cost=False, model=self.model)
            self.begin(name, project=project, synthetic_time=began is None, untold=untold)
        already, self._read = self._read, max(self._read, len(turns))
        for place, turn in turns[already:]:
            self.enter(place)
            if "message" in turn:
                self._editor_turn(place, table(turn.get("message")))
            else:
                self._turn(place, turn)

    def _editor_turn(self, place: str, message: dict[str, Any]) -> None:
        message_text = words(message.get("content"))
        if message.get("role") == "user":
            self.add(self.prompt(message_text))
        else:
            self.answer(message_text, message=place)

    def _turn(self, place: str, turn: dict[str, Any]) -> None:
        user, answer = table(turn.get("user")), table(turn.get("assistant"))
        self.now = self.time_of(user.get("timestamp"))
        content = table(user.get("content"))
        prompt_text = text(table(content.get("Prompt")).get("prompt"))
        results = items(table(content.get("ToolUseResults")).get("tool_use_results"))
        if prompt_text:
            self.add(self.prompt(prompt_text))
        for number, one in enumerate(map(table, results)):
            name = text(one.get("tool_use_id")) or "".join(self._called[number : number + 1])
            result = _result(one.get("content"), failed=one.get("status") == "Error", stopped=False)
            self.result(name, result)
        self.now = max(self.now, self.time_of(table(turn.get("request_metadata")).get("stream_end_timestamp_ms")))
        body = table(answer.get("Response")) or table(answer.get("ToolUse"))
        calls = [table(one) for one in items(body.get("tool_uses"))]
        name = text(body.get("message_id")) or place
        self.answer(text(body.get("content")), message=name, stop=CALLING if calls else ENDED)
        self._called = [text(one.get("id")) or f"{place}/{number}" for number, one in enumerate(calls)]
        for call_id, one in zip(self._called, calls, strict=True):
            arguments = one.get("orig_args") if one.get("args") is None else one["args"]
            self.call(call_id, text(one.get("name")), arguments)

    @staticmethod
    def listing(path: Path) -> list[Listed]:
        """Return the conversations of a database, each with its first prompt as title."""
        with reading(path) as database:
            there = tables(path)
            return [
                Listed(
                    str(row.get("conversation_id") or row["key"]),
                    str(row.get("key") or ""),
                    _first_prompt(str(row.get("value"))),
                    seconds(row.get("updated_at")),
                    2 + str(row.get("value")).count('"assistant"'),
                )
                for name in _TABLES
                if name in there
                for row in select(database, name, _ROW)
            ]

    @staticmethod
    def rows(path: Path, session: str = "", read: RowsRead | None = None, *, heads: bool = False) -> Rows:
        """The conversations of the older CLI's database, each a row that is rewritten as a whole."""
        del read, heads
        with reading(path) as database:
            there = tables(path)
            for name in _TABLES:
                if name not in there:
                    continue
                for row in select(database, name, _ROW, "ORDER BY rowid"):
                    data = str(row.get("value") or "{}").encode("utf-8", "replace")
                    own = str(row.get("conversation_id") or row.get("key"))
                    if session in ("", own) and data.startswith(b"{"):
                        key = str(row.get("key") or "")
                        yield DatabaseRow(_with_folder(data, key, own), f"{name}/{row['rowid']}")


def _first_prompt(conversation: str) -> str:
    """Return the first prompt in a conversation's JSON, which may be long and is not decoded for it."""
    prompt = _FIRST_PROMPT.search(conversation)
    return text(decoded(prompt[1].encode("utf-8", "replace"))) if prompt else ""


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The conversations of the older CLI's database below a root, or the files of sessions."""
    yield from database_sessions(agent, root / "data.sqlite3", KiroReader.listing, now, active_within)
    for path in (*root.glob("*.jsonl"), *root.glob("*/*-*-*-*-*.json")):
        facts = sidecar(str(path), f"{path.stem}.json") if path.suffix == ".jsonl" else {}
        project, title = text(facts.get("cwd")), text(facts.get("title"))
        yield file_session(agent, path, _EVENT, now, active_within, project, title)


def _with_folder(data: bytes, folder: str, session: str) -> bytes:
    """Return a conversation's JSON with the facts of its row."""
    facts = msgspec.json.encode({"key": folder, "conversation_id": session})
    return facts if data.strip() == b"{}" else b"%b,%b" % (facts[:-1], data.lstrip()[1:])


def _content_text(content: Any) -> str:
    return "\n".join(text(part.get("data")) for part in map(table, items(content)) if part.get("kind") == "text")


def _result(content: Any, *, failed: bool, stopped: bool) -> Result:
    """Return a result; the exit of a command is in its JSON, not in the harness's status."""
    parts = [table(part) for part in items(content)]
    bodies = [part.get("data", part.get("Json", part.get("Text"))) for part in parts]
    whole = next((body for body in bodies if isinstance(body, dict)), "\n".join(map(text, bodies)))
    return read_result(whole, error=failed, rejected=stopped)


def _lines(sample: Sample) -> int:
    kinds = {text(one.get("kind")) for one in sample.records[:8] if one.get("version") == "v1"}
    return 95 if kinds & {"Prompt", "AssistantMessage", "ToolResults", "Clear"} else 0


def _document(sample: Sample) -> int:
    """A conversation of the older CLI, or a session of the editor."""
    value = table(sample.document)
    first = table(next(iter(items(value.get("history"))), None))
    if {"user", "assistant"} <= first.keys():
        return 92
    if "message" in first and ("executionId" in first or "workspacePath" in value or "workspaceDirectory" in value):
        return 88
    head = sample.head[:2000]
    return 90 if b'"history"' in head and b'"env_context"' in head and b'"conversation_id"' in head else 0


def _database(sample: Sample) -> int:
    return 95 if sample.head.startswith(MAGIC) and {*_TABLES} & tables(sample.path) else 0


FORMATS = (
    Format("kiro", "lines", _lines, KiroReader, title="Kiro CLI"),
    Format("kiro", "document", _document, KiroReader, title="Kiro's editor", id_key=("conversation_id",)),
    Format("kiro", "database", _database, KiroReader, title="Kiro CLI 1"),
)
