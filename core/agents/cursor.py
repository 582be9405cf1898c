"""Cursor's transcripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.agents.calls import Result
from core.agents.reader import STEP, TranscriptReader
from core.agents.values import items, table, text, words
from core.agents.words import speech
from core.logs.format import Companion, Format, Sample
from core.logs.log_files import is_folder

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_UNTOLD = Result(running=True)
_CALLS = frozenset(("tool_use", "tool_call", "tool-call"))
_RESULTS = frozenset(("tool_result", "tool-result"))
# Tools that wait for the person; the next line shows that it was answered.
_ASKS = frozenset(("AskQuestion", "ask_question"))


class CursorReader(TranscriptReader):
    """A line is one message; each takes a step of made-up time."""

    name = "cursor"
    untold = ("times", "outcomes", "tokens", "model", "cost")
    gaps = "text may be blank, and calls may be missing"
    kinds = _CALLS | _RESULTS | {"user", "assistant", "turn_ended", "text", "thinking", "image"}
    _question = ""  # The open question.

    def read(self, value: Any) -> None:
        """Add the events of one message."""
        line = self.table(value, "line")
        role = line.get("role")
        self.check_kind(text(role) or text(line.get("type")))
        if role not in ("user", "assistant"):
            return
        if not self.begun:
            self.begin("", synthetic_time=True)
        self.now += STEP
        if self._question:
            self.result(self._question, _UNTOLD)
            self._question = ""
        content = self.table(line.get("message"), "message").get("content")
        self.check_parts(items(content))
        if role == "user":
            own = [part for part in items(content) if text(table(part).get("type")) not in _RESULTS]
            prompt_text = words(own or text(content))
            queries = _QUERY.findall(prompt_text)
            if own or not items(content):
                self.add(self.prompt("\n".join(queries) if queries else prompt_text))
            return
        name = f"line-{self._line}"
        self.add(self.turn(speech([line], agent=True), message=name))
        for place, part in enumerate(items(content)):
            call = table(part)
            if text(call.get("type")) not in _CALLS:
                continue
            tool = text(call.get("name")) or text(call.get("toolName"))
            arguments = call.get("input", call.get("args"))
            if tool in _ASKS and not self._question:
                self._question = f"{name}/{place}"
                self.call(self._question, tool, arguments)
            else:
                self.add(self.whole_call(f"{name}/{place}", tool, arguments, _UNTOLD))


def cursor_files(path: Path) -> list[Companion]:
    """The transcripts of sub-agents, in a folder beside the main one."""
    place = path.parent / "subagents"
    if path.parent.name != path.stem or not is_folder(place):
        return []
    return [Companion(file.stem, file) for file in sorted(place.iterdir()) if file.suffix == ".jsonl"]


def _sniff(sample: Sample) -> int:
    """Recognize lines with a role and a message with content, without ids and times."""
    lines = [line for line in sample.records[:8] if line.get("type") != "turn_ended"]
    if not lines or not all(map(_is_message, lines)):
        return 0
    return 92 if "agent-transcripts" in sample.path.parts else 80


def _is_message(line: dict[str, Any]) -> bool:
    message = table(line.get("message"))
    has_content = "content" in message and "role" not in message
    return has_content and line.get("role") in ("user", "assistant") and not {"uuid", "id"} & line.keys()


FORMATS = (Format("cursor", "lines", _sniff, CursorReader, cursor_files),)
