"""Chats of Gemini CLI, and of Qwen Code, which has the same parts in other lines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.agents.calls import Result, agent_report, function_result, shell_result, split_advice
from core.agents.models import CALLING, WORDLESS, failed_turn
from core.agents.reader import TranscriptReader
from core.agents.values import TokenCounts, attached_to, decode, items, table, text, whole_number, words
from core.agents.words import speech
from core.events import ToolUse
from core.logs.format import Companion, Format, Sample
from core.logs.glimpse import Title
from core.logs.lines import head
from core.logs.links import NOTHING, Envelope, Link, LinkKind, LinkReader, Rank, RecordMessage, as_text, turn
from core.logs.log_files import absolute_path, is_folder, named_like
from core.logs.records import Log, Record, stem

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

    def read(self, value: Any) -> None:
        """Add the events of one update, or of a whole document."""
        record = self.table(value, "record")
        if "$set" in record:
            record = self.table(record["$set"], "$set")
        elif "type" in record:
            self._message(record)
            return
        for name in record.keys() - _UPDATES:
            if name.startswith("$"):
                self.skip(name)
        if "sessionId" in record and not self.begun:
            self.moment(record.get("startTime"), record.get("lastUpdated"))
            self.begin(record["sessionId"], project=next(iter(items(record.get("directories"))), ""))
        listed = record.get("messages")
        for place, message in enumerate(self.items(listed, "messages")):
            if isinstance(message, dict):
                self.enter(f"/messages/{place}" if value is record else "")
                self._message(message)
            else:
                self.note("message is not an object")

    def _message(self, message: dict[str, Any]) -> None:
        name = text(message.get("id"))
        kind = message.get("type")
        if kind == "gemini":
            self._answer(name, message)
            return
        if name in self.read_ids:
            return
        self.check_kind(text(kind))
        self.check_names(items(message.get("content")))
        at = self.moment(message.get("timestamp"))
        message_text = words(message.get("content"))
        if kind == "user":
            message_text = message_text or attached_to(items(message.get("content")))
        if kind == "user" and message_text and message_text != _CONTINUE:
            self.add(*self.usage.close_all())
            self.add(self.prompt(message_text))
        elif kind == "info":
            self._info(message_text)
        elif kind == "error":
            self.add(*self.usage.close_all())
            self.add(failed_turn(at, self.agent, self.here(), name))
        if name:
            self.read_ids.add(name)

    def _info(self, message_text: str) -> None:
        match = _COMPRESSED.search(message_text[:500])
        if match:
            before, after = (int(group.replace(",", "") or 0) for group in match.groups())
            self.add(self.compaction(before=before, after=after))
        elif message_text.startswith("Request cancelled"):
            self.add(self.prompt("", interrupt=True))

    def _answer(self, name: str, message: dict[str, Any]) -> None:
        self.moment(message.get("timestamp"))
        tokens = self.table(message.get("tokens"), "tokens")
        answer_text = words(message.get("content"))
        self.check_names(items(message.get("content")))
        turn = self.turn(
            answer_text,
            message=name,
            model=message.get("model"),
            tokens=_tokens(tokens, "input", "tool", "output", "thoughts", "cached"),
            stop=CALLING if message.get("toolCalls") else "" if answer_text.strip() else WORDLESS,
        )
        self.add(self.usage.update(turn))
        for place, call in enumerate(self.objects(message.get("toolCalls"), "toolCalls")):
            self._call(text(call.get("id")) or f"{name}/{place}", call)

    def _call(self, name: str, call: dict[str, Any]) -> None:
        if name in self.read_ids:
            return
        tool, arguments = text(call.get("name")), call.get("args")
        at = self.time_of(call.get("timestamp"))
        status = text(call.get("status"))
        if status not in _FINAL:
            if status not in _OPEN:
                self.skip(f"status/{status}")
            self.calls.begin(name, tool, arguments, at, self.agent, self.here())
            return
        self.read_ids.add(name)
        self.add(self.usage.close(self.agent))
        use, advice = self.end_call(name, tool, arguments, function_result(call, status), at)
        if use is not None:
            self._done(use, text(call.get("agentId")), table(arguments))
            self.add(advice)

    def _done(self, use: ToolUse, child: str, arguments: dict[str, Any]) -> None:
        if not child and use.action != "delegation":
            self.add(use)
            return
        child = child or use.id
        role = text(arguments.get("agent_name")) or use.tool
        self.child_started(child, role, at=use.at - (use.duration or 0.0))
        self.add(use, agent_report(use, child, self.agent))


def _tokens(facts: dict[str, Any], *names: str) -> TokenCounts:
    """Return the tokens that were sent, added by tools, written and thought; cached ones are among those sent."""
    sent, added, answered, thinking, cached = (whole_number(facts.get(name)) for name in names)
    cached = min(cached, sent)
    return TokenCounts(sent - cached + added, answered + thinking, cached)


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
    records = sample.records[:8]
    answers = [one for one in records if one.get("type") == "gemini" and ("tokens" in one or "toolCalls" in one)]
    return 90 if answers or any(_UPDATES & one.keys() for one in records) else 0


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


_LINK_KINDS: dict[str, tuple[LinkKind, Rank]] = {
    "user": ("prompt", "main"),
    "assistant": ("answer", "main"),
    "tool_result": ("result", "beside"),
    "system": ("system", "beside"),
}
_LINK_SUBTYPES: dict[str, tuple[LinkKind, Rank]] = {
    "chat_compression": ("compaction", "main"),
    "rewind": ("rewind", "main"),
    "notification": ("system", "beside"),
    "cron": ("system", "beside"),
}


class QwenLinks(LinkReader):
    """Lines name their parents; a rewind begins another branch under an older one."""

    def follow(self, envelope: Envelope, record: Record) -> Link:
        """The link of one line."""
        name = as_text(envelope.uuid)
        if not name:
            return self.aside(record, "entry")
        kind_name = as_text(envelope.type)
        kind, rank = _LINK_SUBTYPES.get(as_text(envelope.subtype)) or _LINK_KINDS.get(kind_name, ("entry", "aside"))
        parent = as_text(envelope.parent_uuid) or None
        return self.link(record, name, parent, kind, rank, RecordMessage.read(envelope.message))


_INJECTED = "<qwen:"  # How parts begin that a hook or the program added to what the person wrote.
_QWEN_TOKENS = ("prompt", "toolUsePrompt", "candidates", "thoughts", "cachedContent")
_NO_PROMPTS = frozenset(("notification", "cron"))
_TYPES = frozenset(("user", "assistant", "tool_result", "system"))


class QwenReader(TranscriptReader):
    """Rewound lines happened too, so lines are read in file order."""

    name = "qwen"
    untold = ("cost",)
    gaps = "only start and end of foreground sub-agents are logged"
    kinds = frozenset(("user", "assistant", "tool_result", "system", "at_command", "file_history_snapshot"))

    def setup(self) -> None:
        self._children: dict[str, str] = {}

    def read(self, value: Any) -> None:
        """Add the events of one line."""
        line = self.table(value, "line")
        kind = text(line.get("type"))
        self.check_kind(kind)
        if kind not in _TYPES:
            return
        self.moment(line.get("timestamp"))
        if not self.begun:
            facts = {"project": "cwd", "branch": "gitBranch", "version": "version", "model": "model"}
            self.begin(line.get("sessionId"), **{name: line.get(key) for name, key in facts.items()})
        parts = items(table(line.get("message")).get("parts"))
        self.check_names(parts)
        subtype = text(line.get("subtype"))
        if kind == "user":
            if subtype not in _NO_PROMPTS:
                self._prompt(parts)
        elif kind == "assistant":
            self._answer(line, parts)
        elif kind == "tool_result":
            self._results(line, parts)
        elif subtype == "chat_compression":
            self._compaction(line)

    def _prompt(self, parts: list[Any]) -> None:
        texts = [text(table(part).get("text")) for part in parts]
        prompt_text = "\n".join(one for one in texts if one and not one.startswith(_INJECTED))
        if prompt_text := prompt_text or attached_to(parts):
            self.add(self.prompt(prompt_text))

    def _answer(self, line: dict[str, Any], parts: list[Any]) -> None:
        usage = self.table(line.get("usageMetadata"), "usageMetadata")
        tokens = _tokens(usage, *(f"{kind}TokenCount" for kind in _QWEN_TOKENS))
        name, model = text(line.get("uuid")), text(line.get("model"))
        self.answer(speech([line], agent=True), message=name, model=model, tokens=tokens)
        for place, part in enumerate(parts):
            call = table(table(part).get("functionCall"))
            if call:
                name = text(call.get("id")) or f"{text(line.get('uuid')) or self._line}/{place}"
                self._call(name, text(call.get("name")), call.get("args"))

    def _call(self, name: str, tool: str, arguments: Any) -> None:
        if self.calls.begin(name, tool, arguments, self.now, self.agent, self.here()):
            role = text(table(arguments).get("subagent_type")) or tool
            if self.delegates(name, role):
                self._children[name] = name

    def _results(self, line: dict[str, Any], parts: list[Any]) -> None:
        facts = self.table(line.get("toolCallResult"), "toolCallResult")
        answered: dict[str, Any] = {}
        for part in parts:
            response = table(table(part).get("functionResponse"))
            if response:
                answered[text(response.get("id"))] = response.get("response")
        called = text(facts.get("callId"))
        if called not in answered:
            answered.setdefault(called or next(iter(answered), ""), facts.get("resultDisplay"))
        for name, answer in answered.items():
            status = text(facts.get("status")) if name == called or not called else ""
            result, advice = _result(answer, status, facts.get("resultDisplay"))
            use = self.result(name, result, advice=advice)
            if use is not None and (child := self._children.pop(use.id, "")):
                self.add(agent_report(use, child))

    def _compaction(self, line: dict[str, Any]) -> None:
        info = table(table(line.get("systemPayload")).get("info"))
        self.add(self.compaction(before=info.get("originalTokenCount"), after=info.get("newTokenCount")))


def _result(response: Any, status: str, display: Any) -> tuple[Result, str]:
    """The result of a call, and the advice behind it."""
    failed = bool(table(response).get("error"))
    output, advice = split_advice(words(response) or words(display))
    return shell_result(output, "error" if failed and status not in ("success", "cancelled") else status), advice


def qwen_files(path: Path) -> list[Companion]:
    """Return the chats of a session's sub-agents, which are in a folder named after it."""
    return [
        Companion(file.stem.removeprefix("agent-"), file)
        for place in filter(is_folder, _beside(path))
        for file in sorted(place.iterdir())
        if file.suffix == ".jsonl"
    ]


def _beside(path: Path) -> list[Path]:
    chats = absolute_path(path.parent)
    if chats.name != "chats":
        return []
    folder = chats.parent / "subagents" / stem(path)
    return [named_like(folder, path)]


def _qwen_sniff(sample: Sample) -> int:
    """Lines with ids, parents and messages that have parts."""
    for record in sample.records[:8]:
        message = table(record.get("message"))
        if "uuid" in record and "sessionId" in record and isinstance(message.get("parts"), list):
            return 96
        if record.get("type") == "tool_result" and "toolCallResult" in record:
            return 90
    return 0


def qwen_title(line: dict[str, Any]) -> Title | None:
    """The name the person gave the chat."""
    title = text(table(line.get("systemPayload")).get("customTitle")) if line.get("type") == "system" else ""
    return Title(3, title) if title else None


QWEN = (Format("qwen", "lines", _qwen_sniff, QwenReader, qwen_files, QwenLinks, qwen_title, beside=_beside),)
