"""Gemini CLI's chat documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.agents.calls import agent_report, function_result, said_event, split_advice
from core.agents.models import CALLING, WORDLESS, failed_turn
from core.agents.reader import TranscriptReader
from core.agents.values import TokenCounts, attached_to, decode, items, table, text, whole_number, words
from core.events import AgentStart, ToolUse, Where
from core.logs.decoding import seconds
from core.logs.format import Companion, Format, Sample
from core.logs.glimpse import Title
from core.logs.lines import head
from core.logs.links import NOTHING, Envelope, Link, LinkReader, as_text, turn
from core.logs.log_files import is_folder
from core.logs.records import Log, Record

_REMEMBERED = 65_536  # Messages a rewind can lead back to.


class GeminiLinks(LinkReader):
    """Messages in order, some rewritten, and rewinds to before a message."""

    def __init__(self, log: Log) -> None:
        super().__init__(log)
        self._before: dict[str, str | None] = {}
        self._head: str | None = None

    def follow(self, envelope: Envelope, record: Record) -> Link:
        """The link of one update."""
        name = as_text(envelope.id)
        kind, message = turn(envelope)
        if name and name in self._before:
            return self.link(record, self.name(record), name, "update", "aside", message)
        parent = self._head
        if envelope.rewind_to is not NOTHING:
            parent = self._before.get(as_text(envelope.rewind_to), self._head)
            kind, name = "rewind", ""
        elif envelope.set is not NOTHING:
            return self.link(record, self.name(record), parent, "update", "aside")
        elif kind == "entry" and as_text(envelope.session_id):
            kind = "start"
        link = self.link(record, name or self.name(record), parent, kind, "main", message)
        if name:
            if len(self._before) >= _REMEMBERED:
                del self._before[next(iter(self._before))]
            self._before[name] = parent
        self._head = link.id
        return link


_COMPRESSED = re.compile(r"compressed[^.]{0,40}?\bfrom:? ([\d,]{1,15}) to ([\d,]{1,15}) tokens", re.IGNORECASE)
_FINAL = frozenset(("success", "error", "cancelled"))
_OPEN = frozenset(("validating", "scheduled", "executing", "awaiting_approval"))
_UPDATES = frozenset(("$set", "$rewindTo"))
_CONTINUE = "System: Please continue."  # A text of the program in the person's name.


class GeminiReader(TranscriptReader):
    """A message may be rewritten with the same id; each prompt, answer and call is read once.

    Rewound messages happened too, and stay.
    """

    name = "gemini"
    untold = ("cost",)
    kinds = frozenset(("user", "info", "error", "warning", "help", "about", "stats", "model_stats", "tool_stats"))

    def setup(self) -> None:
        self._read_ids: set[str] = set()

    def read(self, value: Any) -> None:
        """Add the events of one update, or of a whole document."""
        record = self.table(value, "record")
        if "$set" in record:
            record = self.table(record["$set"], "$set")
        elif "type" in record:
            self._message(record, self.here())
            return
        for name in record.keys() - _UPDATES:
            if name.startswith("$"):
                self.skip(name)
        if "sessionId" in record and not self.begun:
            at = self.moment(record.get("startTime"), record.get("lastUpdated"))
            project = next(iter(items(record.get("directories"))), "")
            self.begin(at, text(record["sessionId"]), project=text(project))
        listed = record.get("messages")
        for place, message in enumerate(self.items(listed, "messages")):
            if isinstance(message, dict):
                self._message(message, self.here(f"/messages/{place}" if value is record else ""))
            else:
                self.note("message is not an object")

    def _message(self, message: dict[str, Any], where: Where) -> None:
        name = text(message.get("id"))
        kind = message.get("type")
        if kind == "gemini":
            self._answer(name, message, where)
            return
        if name in self._read_ids:
            return
        self.check_kind(text(kind))
        self.check_names(items(message.get("content")))
        at = self.moment(message.get("timestamp"))
        message_text = words(message.get("content"))
        if kind == "user":
            message_text = message_text or attached_to(items(message.get("content")))
        if kind == "user" and message_text and message_text != _CONTINUE:
            self.add(*self.usage.close_all())
            self.add(self.prompt(at, message_text, where))
        elif kind == "info":
            self._info(at, message_text, where)
        elif kind == "error":
            self.add(*self.usage.close_all())
            self.add(failed_turn(at, self.agent, where, name))
        if name:
            self._read_ids.add(name)

    def _info(self, at: float, message_text: str, where: Where) -> None:
        match = _COMPRESSED.search(message_text[:500])
        if match:
            before, after = (int(group.replace(",", "") or 0) for group in match.groups())
            self.add(self.compaction(at, where, tokens_before=before, tokens_after=after))
        elif message_text.startswith("Request cancelled"):
            self.add(self.prompt(at, "", where, interrupt=True))

    def _answer(self, name: str, message: dict[str, Any], where: Where) -> None:
        at = self.moment(message.get("timestamp"))
        tokens = self.table(message.get("tokens"), "tokens")
        names = ("input", "tool", "output", "thoughts")
        sent, added, answered, thinking = (whole_number(tokens.get(one)) for one in names)
        cached = min(whole_number(tokens.get("cached")), sent)
        answer_text = words(message.get("content"))
        self.check_names(items(message.get("content")))
        turn = self.turn(
            at,
            answer_text,
            where,
            message=name,
            model=text(message.get("model")),
            tokens=TokenCounts(sent - cached + added, answered + thinking, cached),
            stop=CALLING if message.get("toolCalls") else "" if answer_text.strip() else WORDLESS,
        )
        self.add(self.usage.update(turn))
        for place, call in enumerate(self.objects(message.get("toolCalls"), "toolCalls")):
            self._call(text(call.get("id")) or f"{name}/{place}", call, at, where)

    def _call(self, name: str, call: dict[str, Any], asked_at: float, where: Where) -> None:
        if name in self._read_ids:
            return
        tool, arguments = text(call.get("name")), call.get("args")
        moment = seconds(call.get("timestamp"))
        at = asked_at if moment is None else moment
        status = text(call.get("status"))
        if status not in _FINAL:
            if status not in _OPEN:
                self.skip(f"status/{status}")
            self.calls.begin(name, tool, arguments, at, self.agent, where)
            return
        self._read_ids.add(name)
        self.add(self.usage.close(self.agent))
        result = function_result(call, status)
        plain, advice = split_advice(result.text)
        if advice:
            result = result._replace(text=plain)
        if self.calls.is_known(name):
            use = self.calls.end(name, at, result, where, line=self._line)
        else:
            use = self.calls.both(name, tool, arguments, None, at, result, where, self.agent)
        if use is not None:
            self._done(use, text(call.get("agentId")), table(arguments))
            if advice:
                self.add(said_event(advice, use.at, self.agent, where))

    def _done(self, use: ToolUse, child: str, arguments: dict[str, Any]) -> None:
        if not child and use.action != "delegation":
            self.add(use)
            return
        child = child or use.id
        role = text(arguments.get("agent_name")) or use.tool
        began = use.at - (use.duration or 0.0)
        self.add(AgentStart(at=began, agent=self.agent, where=use.where, child=child, role=role))
        self.add(use)
        self.add(agent_report(use, child, self.agent))


def gemini_files(path: Path) -> list[Companion]:
    """Return the chats of a session's sub-agents, which are in a folder named after it."""
    sample = Sample(head(path, 65_536), path)
    opening = sample.records[0] if sample.records else table(sample.document)
    session = text(opening.get("sessionId")) or _session_in(sample.head)
    folder = path.parent / session
    if not session or "/" in session or "\\" in session or session in (".", "..") or not is_folder(folder):
        return []
    return [
        Companion(file.name.split(".", 1)[0], file)
        for file in sorted(folder.iterdir())
        if file.suffix in (".jsonl", ".json") and file != path
    ]


def _session_in(opening: bytes) -> str:
    match = re.search(rb'"sessionId"\s*:\s*("[^"\\]{1,100}")', opening)
    return text(decode(match.group(1))) if match else ""


def _sniff(sample: Sample) -> int:
    """A header with a project hash, or messages of type gemini."""
    if b'"projectHash"' in sample.head and b'"sessionId"' in sample.head:
        return 95
    for record in sample.records[:8]:
        if "$set" in record or "$rewindTo" in record:
            return 90
        if record.get("type") == "gemini" and ("tokens" in record or "toolCalls" in record):
            return 90
    return 0


def _lines(sample: Sample) -> int:
    score = _sniff(sample)
    return score if sample.records and "messages" not in sample.records[0] else 0


def _document(sample: Sample) -> int:
    """The beginning of a first line that is still being written is not a document."""
    return 0 if _lines(sample) or b'"messages"' not in sample.head else _sniff(sample)


def gemini_title(record: dict[str, Any]) -> Title | None:
    """The summary that the program keeps of a chat."""
    title = text((table(record.get("$set")) or record).get("summary")) if "type" not in record else ""
    return Title(2, title) if title else None


FORMATS = (
    Format("gemini", "lines", _lines, GeminiReader, gemini_files, GeminiLinks, gemini_title),
    Format(
        "gemini", "document", _document, GeminiReader, gemini_files, GeminiLinks, gemini_title, id_key=("sessionId",)
    ),
)
