"""Qwen Code's chat log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.agents.calls import Result, agent_report, shell_result
from core.agents.reader import TranscriptReader
from core.agents.values import TokenCounts, attached_to, items, table, text, whole_number, words
from core.agents.words import speech
from core.logs.format import Companion, Format, Sample
from core.logs.glimpse import Title
from core.logs.links import Envelope, Link, LinkKind, LinkReader, Rank, RecordMessage, as_text
from core.logs.log_files import absolute_path, is_folder, named_like
from core.logs.records import Record, stem

_KINDS: dict[str, tuple[LinkKind, Rank]] = {
    "user": ("prompt", "main"),
    "assistant": ("answer", "main"),
    "tool_result": ("result", "beside"),
    "system": ("system", "beside"),
}
_SUBTYPES: dict[str, tuple[LinkKind, Rank]] = {
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
        kind, rank = _SUBTYPES.get(as_text(envelope.subtype)) or _KINDS.get(as_text(envelope.type), ("entry", "aside"))
        parent = as_text(envelope.parent_uuid) or None
        return self.link(record, name, parent, kind, rank, RecordMessage.read(envelope.message))


_INJECTED = "<qwen:"  # How parts begin that a hook or the program added to what the person wrote.
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
        at = self.moment(line.get("timestamp"))
        if not self.begun:
            self.begin(
                at,
                text(line.get("sessionId")),
                project=text(line.get("cwd")),
                branch=text(line.get("gitBranch")),
                version=text(line.get("version")),
                model=text(line.get("model")),
            )
        parts = items(table(line.get("message")).get("parts"))
        self.check_names(parts)
        subtype = text(line.get("subtype"))
        if kind == "user":
            if subtype not in _NO_PROMPTS:
                self._prompt(at, parts)
        elif kind == "assistant":
            self._answer(at, line, parts)
        elif kind == "tool_result":
            self._results(at, line, parts)
        elif subtype == "chat_compression":
            self._compaction(at, line)

    def _prompt(self, at: float, parts: list[Any]) -> None:
        texts = [text(table(part).get("text")) for part in parts]
        prompt_text = "\n".join(one for one in texts if one and not one.startswith(_INJECTED))
        if prompt_text := prompt_text or attached_to(parts):
            self.add(self.prompt(at, prompt_text))

    def _answer(self, at: float, line: dict[str, Any], parts: list[Any]) -> None:
        usage = self.table(line.get("usageMetadata"), "usageMetadata")
        names = ("promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        sent, added, answered, thinking = (whole_number(usage.get(name)) for name in names)
        cached = min(whole_number(usage.get("cachedContentTokenCount")), sent)
        self.answer(
            at,
            speech([line], agent=True),
            message=text(line.get("uuid")),
            model=text(line.get("model")),
            tokens=TokenCounts(sent - cached + added, answered + thinking, cached),
        )
        for place, part in enumerate(parts):
            call = table(table(part).get("functionCall"))
            if call:
                name = text(call.get("id")) or f"{text(line.get('uuid')) or self._line}/{place}"
                self._call(name, call, at)

    def _call(self, name: str, call: dict[str, Any], at: float) -> None:
        arguments = call.get("args")
        if not self.calls.begin(name, text(call.get("name")), arguments, at, self.agent, self.here()):
            return
        role = text(table(arguments).get("subagent_type")) or text(call.get("name"))
        if self.delegates(name, role, at):
            self._children[name] = name

    def _results(self, at: float, line: dict[str, Any], parts: list[Any]) -> None:
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
            result = _result(answer, status, facts.get("resultDisplay"))
            use = self.calls.end(name, at, result, self.here(), line=self._line)
            if use is not None:
                self.add(use)
                if child := self._children.pop(use.id, ""):
                    self.add(agent_report(use, child))

    def _compaction(self, at: float, line: dict[str, Any]) -> None:
        info = table(table(line.get("systemPayload")).get("info"))
        self.add(
            self.compaction(
                at,
                tokens_before=whole_number(info.get("originalTokenCount")),
                tokens_after=whole_number(info.get("newTokenCount")),
            )
        )


def _result(response: Any, status: str, display: Any) -> Result:
    failed = bool(table(response).get("error"))
    output = words(response) or words(display)
    return shell_result(output, "error" if failed and status not in ("success", "cancelled") else status)


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


def _sniff(sample: Sample) -> int:
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


FORMATS = (Format("qwen", "lines", _sniff, QwenReader, qwen_files, QwenLinks, qwen_title, beside=_beside),)
