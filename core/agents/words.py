"""The words behind an event, read from its log when somebody looks: asked, said, run, answered."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.agents.attachments import attached
from core.agents.loose import decode, unthought
from core.agents.record_words import answer, arguments, change, fault_words, gist, spoken, task
from core.agents.usage import CALLING, WORDLESS
from core.events import AgentStart, Event, Prompt, ToolUse, Turn, Where
from core.logs.glimpse import person_words
from core.logs.records import Documents
from core.logs.redaction import redact
from core.logs.session import LogSession

_TYPED = re.compile(r"^####[ \t]?", re.MULTILINE)
_PROGRAM = re.compile(r"\A> ?")


def typed_words(plain: str) -> str:
    """What the person typed."""
    return "\n".join(line.rstrip() for line in _TYPED.sub("", plain).splitlines()).strip()


def answer_words(plain: str) -> str:
    """What the model said, or the program in a line of its own; thoughts left out."""
    return unthought(_PROGRAM.sub("", plain))


LONGEST = 20_000
"""Characters of one text that are handed out at most; of outputs, the last ones."""
_WORDLESS = "nooscope"
_BEGINNING = 64
"""Bytes of a log that tell whether it holds JSON."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[@-Z\\-_])")
_REFUSAL_MARKS = re.compile(r"</?tool_use_error>")
"""What Claude Code puts around the words of its own refusals."""
_CHUNK = re.compile(
    r"\A\s*(?:Chunk ID: .*\n)?(?:Wall time: .*\n)(?:Process (?:exited|running) .*\n)?"
    r"(?:Original token count: .*\n)?Output:(?:\n|\Z)"
)
"""What Codex puts before an output: its exit code and duration are shown beside the call."""
_SHELL = re.compile(r"\n?<shellId: \d+ completed with exit code -?\d+>\s*\Z")
"""What Copilot CLI puts after one, for the same reason."""
_TRACEBACK = "Traceback (most recent call last)"
_MARGIN = re.compile(r"^(?:E|>)\s+(?=\S)")
"""What test runners put before the lines of an error."""
_RULE = re.compile(r"([─━═=_*~-])\1{3,}")
"""Lines that are drawn beside words."""
_NONE = re.compile(r"\b(?:0|no) (?:failed|failures?|errors?)\b|\berror: \(?none\)?\s*$", re.I)
_WRAPPED = re.compile(r"^<([a-z_]+)>(.*\S.*)</\1>$")
"""A line that an agent put between marks of its own."""
_TELLING = (
    re.compile(r"\w(?:Error|Exception)\b|\berror(?:\[\w+\])?:|\bfatal\b|\bpanic|^FAIL(?:ED)?\b|^✗|^✕", re.I),
    re.compile(r"error|fail|exception|assert|expected|not found|denied|cannot|undefined|no such", re.I),
)
"""Signs of the line that says what went wrong, the surest first."""


class Words(NamedTuple):
    """What a person would read of one event; everything is redacted and bounded."""

    said: str = ""
    """The prompt's or the answer's text."""
    command: str = ""
    """Of a call: the command, or the argument that says most."""
    before: str = ""
    """Of an edit: the text it took away."""
    after: str = ""
    """Of an edit: the text it put there."""
    output: str = ""
    """What came back; its end, where it is long."""
    fault: str = ""
    """Why the log could not be read again; blank where it could."""


NOTHING = Words()


class WordReader:
    """Reads the words of events; of logs that are one document the last is remembered as decoded.

    A place that an event names is read only inside the session's own logs, where those are handed in.
    """

    def __init__(self, logs: Sequence[Path] | None = None) -> None:
        self.logs = logs
        self._documents = Documents()

    def words(self, event: Event) -> Words:
        """The words behind an event; never raises on what the disk or the log holds."""
        try:
            if isinstance(event, ToolUse):
                return self._call(event)
            if isinstance(event, Prompt):
                values = self.records(event.where)
                said = spoken(values, agent=False) if values else typed_words(self.plain_text(event.where))
                said = _beginning(person_words(said))
                return Words(said=said or ("" if event.interrupt else attached(values)))
            if isinstance(event, AgentStart):
                values = self.records(event.where)
                return Words(said=_beginning(spoken(values, agent=False) or task(values)))
            if isinstance(event, Turn) and (event.said or event.stop != "total"):
                return Words(said=_beginning(self._spoken(event)))
        except OSError as fault:
            return Words(fault=fault.strerror or str(fault))
        return NOTHING

    def inside(self, where: Where | None) -> bool:
        """Whether a place lies in the session's own logs."""
        if where is None:
            return False
        if self.logs is None:
            return True
        file = Path(where.file)
        return any(file.is_relative_to(log) and ".." not in file.relative_to(log).parts for log in self.logs)

    def _call(self, event: ToolUse) -> Words:
        asked = self.records(event.called or event.where)
        told = self.records(event.where) if event.called else asked
        given = arguments(asked, event)
        edits = event.action in ("file_edit", "memory_write")
        paths, before, after = change(given) if edits else ((), "", "")
        return Words(
            command=_beginning(gist(given, paths)),
            before=_beginning(before),
            after=_beginning(after),
            output=_end("" if asked is told and event.outcome == "pending" else self._output(told, event)),
        )

    def _spoken(self, event: Turn) -> str:
        """What a turn says; of one that says nothing, what the error says that ended it."""
        place = event.said or event.where
        values = self.records(place)
        if not values and (event.said is not None or event.stop == "error"):
            return answer_words(self.plain_text(place))
        said = spoken(values, agent=True) if event.said is not None or event.stop == "error" else ""
        return said or (fault_words(values) if event.stop not in ("", CALLING, WORDLESS) else "")

    def _output(self, told: list[Any], event: ToolUse) -> str:
        return answer(told, event) if told else answer_words(self.plain_text(event.where))

    def records(self, where: Where | None) -> list[Any]:
        """The JSON values that stand at a place, one for each line."""
        if where is None or not self.inside(where):
            return []
        data = self._documents.raw(where)
        value = decode(data)
        if value is not None:
            return [value]
        return [found for line in data.splitlines() if (found := decode(line)) is not None]

    def mentions(self, where: Where | None, names: Sequence[bytes]) -> bool:
        """Whether the bytes at a place contain one of these; nothing is decoded."""
        if where is None or not self.inside(where):
            return False
        try:
            data = self._documents.raw(where)
        except OSError:
            return False
        return any(name in data for name in names)

    def plain_text(self, where: Where | None) -> str:
        """The text at a place of a log that is not JSON; blank where it is, maybe changed since."""
        if where is None or where.entry or not self.inside(where):
            return ""
        beginning = self._documents.raw(Where(where.file, 0, _BEGINNING)).removeprefix(BOM_UTF8).lstrip()
        if beginning.startswith((b"{", b"[")):
            return ""
        return self._documents.raw(where).decode("utf-8", "replace")


def word_logs(session: LogSession) -> tuple[Path, ...]:
    """The logs of a session in which words stand; lines of our own format hold names and sizes alone."""
    return tuple(log.path for log in session.logs if log.format.name != _WORDLESS)


def words_of(event: Event) -> Words:
    """The words behind one event."""
    return WordReader().words(event)


def telling_line(output: str) -> str:
    """The line of an output that best says what went wrong, else the last; of exceptions the last too."""
    said = output.replace("\\n\\n", "\n").replace("\\n", "\n") if "\\n\\n" in output else output
    lines = [_WRAPPED.sub(r"\2", line.strip()) for line in said.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("hint:")] or lines
    for sign in _TELLING:
        for line in reversed(lines) if _TRACEBACK in output else lines:
            if sign.search(line) and not _NONE.search(line):
                return " ".join(_RULE.sub("", _MARGIN.sub("", line)).split()) or line
    return _with_its_head(lines) if lines else ""


def _with_its_head(lines: Sequence[str]) -> str:
    """The last line; of a list of names, the line that announces them and the first."""
    for row in range(len(lines) - 1, -1, -1):
        if lines[row].endswith(":") and row < len(lines) - 1:
            return f"{lines[row]} {lines[row + 1]}"
        if " " in lines[row]:
            break
    return lines[-1]


def first_line(said: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in said.splitlines() if line.strip()), "")


def _beginning(said: str) -> str:
    return redact(_uncoloured(said[: LONGEST * 2]))[:LONGEST].strip()


def _end(said: str) -> str:
    said = _SHELL.sub("", said)
    said = _CHUNK.sub("", _REFUSAL_MARKS.sub("", _uncoloured(said[-LONGEST * 2 :])))
    return redact(said)[-LONGEST:].strip("\n").rstrip()


def _uncoloured(said: str) -> str:
    """Text without the sequences by which programs colour a terminal, which may stand inside a secret."""
    return _ESCAPES.sub("", said) if "\x1b" in said else said
