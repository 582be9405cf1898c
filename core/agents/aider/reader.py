"""Aider's chat history: Markdown in which the person's words, the program's and the model's stand in turn.

It tells one time a run, in the person's own time zone: those between are made up.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from core.agents.calls import Result
from core.agents.loose import STEP, LooseReader, amount
from core.events import Event, Where
from core.logs.format import Format, Outline, Sample

OPENING = b"# aider chat started at "
_STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
_MODEL = re.compile(r"> (?:Main model|Model): (\S{1,120})")
_FOLDER = re.compile(r"> Git working dir: (.{1,400}?)\s*\Z")
_TOKENS = re.compile(
    r"> Tokens: ([\d.,]{1,12})(k|M)? sent,(?: ([\d.,]{1,12})(k|M)? cache write,)?"
    r"(?: ([\d.,]{1,12})(k|M)? cache hit,)? ([\d.,]{1,12})(k|M)? received\."
    r"(?: Cost: \$([\d.]{1,12}) message)?"
)
_DEEDS = (
    (re.compile(r"> Applied edit to (.{1,400}?)\s*\Z"), "edit", "path"),
    (re.compile(r"> Added (.{1,400}?) to the chat(?: \(read-only\))?\.?\s*\Z"), "add", "path"),
    (re.compile(r"> Running (.{1,2000}?)\s*\Z"), "run", "command"),
)
_REFUSED = re.compile(r"> The LLM did not conform to the edit format")
"""The lines after it tell which block failed, and are the same failure."""
_SCALE = {"": 1.0, "k": 1e3, "M": 1e6}
_UNTOLD = Result(running=True)


class AiderReader(LooseReader):
    """Each line of the file is a record; a run of prompt lines is one prompt."""

    name = "aider"
    untold = ("times",)
    gaps = "one time a start, in the person's time zone; commands have no outcome"
    many = True
    idle_starts = True

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._asked: list[str] = []
        self._asked_at: tuple[float, Where] | None = None
        self._model = ""
        self._begun: dict[str, int] = {}

    def feed(self, record: bytes, where: Where, line: int) -> list[Event]:
        """The events that this line completes."""
        self._place, self._line = where, line
        out: list[Event] = []
        said = record.decode("utf-8", "replace").rstrip("\r\n")
        if said.rstrip() == "####" or said.startswith("#### "):
            if self._asked_at is None:
                self.now += STEP
                self._asked_at = (self.now, where)
            self._asked.append(said[5:].rstrip())
            return out
        self._close(out)
        started = _STARTED.match(said)
        if started:
            self._start(started[1], out)
        elif said.startswith("> ") and self.begun:
            self._program(said, out)
        return out

    def read(self, value: Any, out: list[Event]) -> None:
        """Nothing in it is JSON."""

    def finish(self) -> list[Event]:
        """A prompt that is the last thing written."""
        out: list[Event] = []
        self._close(out)
        return out + super().finish()

    def held(self) -> list[Event]:
        """The same, for a history that still grows."""
        return [*self._prompt(), *super().held()]

    def _prompt(self) -> list[Event]:
        if self._asked_at is None or not self.begun:
            return []
        at, where = self._asked_at
        return [self.prompt(at, "\n".join(self._asked), where)]

    def _close(self, out: list[Event]) -> None:
        out.extend(self._prompt())
        self._asked, self._asked_at = [], None

    def _start(self, told: str, out: list[Event]) -> None:
        at = _time(told)
        if at is None:
            self.note("no time")
        self.now = self.now if at is None else at
        name = told.replace(" ", "T").replace(":", "-")
        again = self._begun[name] = self._begun.get(name, 0) + 1
        out.append(self.start(self.now, name if again == 1 else f"{name}-{again}", synthetic_time=True))

    def _program(self, said: str, out: list[Event]) -> None:
        """What the program itself tells."""
        model, folder, tokens = _MODEL.match(said), _FOLDER.match(said), _TOKENS.match(said)
        if model:
            self._model = model[1]
        elif folder:
            self.calls.project = folder[1]
        elif tokens:
            self._turn(tokens, out)
        elif _REFUSED.match(said):
            self._deed("edit", {}, Result(text=said[2:], error=True), out)
        else:
            for pattern, tool, argument in _DEEDS:
                found = pattern.match(said)
                if found:
                    result = _UNTOLD if tool == "run" else Result(text=said[2:], empty=False)
                    self._deed(tool, {argument: found[1]}, result, out)
                    return

    def _deed(self, tool: str, arguments: dict[str, str], result: Result, out: list[Event]) -> None:
        self.now += STEP
        name = f"byte-{self._place.offset}"
        use = self.calls.both(name, tool, arguments, None, self.now, result, self.here(), self.agent)
        out.append(use)

    def _turn(self, told: re.Match[str], out: list[Event]) -> None:
        self.now += STEP
        sent, written, read, answered = (_number(told[group], told[group + 1]) for group in (1, 3, 5, 7))
        out.append(
            self.kit.models.turn(
                self.now,
                message=f"byte-{self._place.offset}",
                model=self._model,
                input_tokens=max(0, sent - written - read),
                output_tokens=answered,
                cache_read=read,
                cache_write=written,
                cost=amount(float(told[9])) if told[9] and told[9].count(".") < 2 else None,
                agent=self.agent,
                where=self.here(),
            )
        )


def aider_outline(data: bytes) -> Outline:
    """The first prompt, and the last start."""
    asked, last = "", None
    for line in data.decode("utf-8", "replace").splitlines():
        started = _STARTED.match(line)
        if started:
            last = _time(started[1])
        elif line.startswith("#### ") and not asked:
            asked = line[5:].strip()
    return Outline(asked, last)


def _time(told: str) -> float | None:
    """A start's time, which stands in the person's time zone and is taken as UTC."""
    try:
        return datetime.strptime(told, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _number(digits: str | None, scale: str | None) -> int:
    try:
        return int(float((digits or "0").replace(",", "")) * _SCALE[scale or ""])
    except ValueError:
        return 0


def _sniff(sample: Sample) -> int:
    return 95 if sample.head.lstrip().startswith(OPENING) else 0


FORMATS = (Format("aider", "lines", _sniff, AiderReader, opening=OPENING, outline=aider_outline),)
