"""Factory Droid's log."""

from __future__ import annotations

from typing import Any

from core.agents.calls import Result, exit_code
from core.agents.reader import LateReader
from core.agents.values import attached_to, items, table, text, words
from core.agents.words import speech
from core.events import Where
from core.logs.format import Format, Sample
from core.logs.lines import seconds
from core.logs.links import Envelope, Link, LinkReader, as_text, turn
from core.logs.records import Record


class DroidLinks(LinkReader):
    """Messages name their parents, the first one the session; other lines are aside."""

    def follow(self, envelope: Envelope, record: Record) -> Link:
        """The link of one line."""
        name, type_ = as_text(envelope.id), as_text(envelope.type)
        if type_ == "session_start":
            return self.link(record, name or self.name(record), None, "start", "main")
        if type_ == "compaction_state":
            return self.link(record, name or self.name(record), self.last, "compaction", "main")
        kind, message = turn(envelope)
        if type_ != "message" or not name:
            return self.aside(record, kind)
        return self.link(record, name, as_text(envelope.parent_id) or self.last, kind, "main", message)


_ADDED = ("<system-reminder>", "<system-notification>")  # Texts of the program in the person's name.


class DroidReader(LateReader):
    """The first line has no time, so the session begins with the first line that has one."""

    name = "droid"
    untold = ("tokens", "model", "cost")
    gaps = "model and tokens are in a separate file, which is not read"
    kinds = frozenset(("session_start", "message", "compaction_state", "todo_state", "session_end"))

    def read(self, value: Any) -> None:
        """Add the events of one line."""
        line = self.table(value, "line")
        kind = line.get("type")
        self.check_kind(text(kind))
        if kind == "session_start":
            if not self.begun:
                self._opening = (line, self.here())
        elif kind == "message":
            self.moment(line.get("timestamp"))
            self._open(self.now)
            self._message(line, self.table(line.get("message"), "message"))
        elif kind == "compaction_state":
            if (stamp := seconds(line.get("timestamp"))) is not None:
                self.moment(stamp)
            self._open(self.now)
            self.add(self.compaction())

    def _open(self, first: float | None) -> None:
        if self.begun:
            return
        opening: tuple[dict[str, Any], Where] | None = self._opening
        line, where = opening or ({}, self.here())
        self._opening = None
        self.begin(line.get("id"), at=first, where=where, project=line.get("cwd"), version=line.get("version"))

    def _message(self, line: dict[str, Any], message: dict[str, Any]) -> None:
        self.check_parts(items(message.get("content")))
        if message.get("role") == "assistant":
            self._answer(text(line.get("id")), message)
        elif message.get("role") == "user":
            self._user_message(message)

    def _user_message(self, message: dict[str, Any]) -> None:
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        texts = []
        for part in self.objects(content, "content"):
            if part.get("type") == "tool_result":
                content_text = words(part.get("content"))
                failed, exited = part.get("is_error") is True, exit_code(content_text)
                self.result(text(part.get("tool_use_id")), Result(content_text, error=failed, exit_code=exited))
            elif part.get("type") == "text":
                part_text = text(part.get("text"))
                if part_text.strip() and not part_text.lstrip().startswith(_ADDED):
                    texts.append(part_text)
        if content_text := "\n".join(texts) or attached_to(items(content)):
            self.add(self.prompt(content_text))

    def _answer(self, name: str, message: dict[str, Any]) -> None:
        self.answer(speech([message], agent=True), message=name)
        content = message.get("content")
        self.part_calls([] if isinstance(content, str) else self.objects(content, "content"), "tool_use", "input")


def _sniff(sample: Sample) -> int:
    """A first line that names the session, or messages wrapped in lines that name their parents."""
    lines = sample.records[:8]
    if lines and lines[0].get("type") == "session_start" and "id" in lines[0] and "kind" not in lines[0]:
        return 95
    wrapped = [line for line in lines if line.get("type") == "message" and "parentId" in line and "timestamp" in line]
    parts = [table(part) for line in wrapped for part in items(table(line.get("message")).get("content"))]
    return 55 if any(part.get("type") in ("tool_use", "tool_result") for part in parts) else 0


FORMATS = (Format("droid", "lines", _sniff, DroidReader, links=DroidLinks),)
