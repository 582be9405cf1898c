"""Aider's chat history in Markdown."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Literal

from core.agents.calls import Result
from core.agents.models import ENDED, failed_turn
from core.agents.reader import STEP, TranscriptReader
from core.agents.tables import known_pattern, known_words
from core.agents.values import amount, unthought, without_cached
from core.events import Event, SessionEnd, SessionStart, Turn, Where
from core.logs.format import Format, Outline, Sample

_LONGEST = 100_000  # Characters of the text that are kept; its place is that of all lines.
_NOWHERE = Where("")


class GatheredText:
    """Gather lines, their text and the place they take up."""

    def __init__(self) -> None:
        self.at = 0.0
        self.where = _NOWHERE
        self._lines: list[str] = []
        self._kept = 0

    def __bool__(self) -> bool:
        return self.where is not _NOWHERE

    @property
    def text(self) -> str:
        """The text of all lines."""
        return "\n".join(self._lines)

    def add(self, line: str, at: float, where: Where) -> None:
        """Add a line; the time is that of the first one."""
        if self.where is _NOWHERE:
            self.at, self.where = at, where
        else:
            first = self.where
            self.where = Where(first.file, first.offset, where.offset + where.length - first.offset)
        if self._kept < _LONGEST:
            self._lines.append(line)
            self._kept += len(line) + 1


_MARK = 2  # Blanks behind each line of the program's and the person's; a model writes none.


class LineEnds:
    """Determines from the next line how each line ended.

    If an editor has removed trailing blanks, lines no longer show who wrote them.
    """

    def __init__(self) -> None:
        self._last = ""
        self._end = 0
        self._number = 0
        self._newline = 1
        self._marked = False
        self.unmarked = False  # Whether the line before this one has no mark, in a run that has them.

    def step(self, line: str, where: Where, number: int) -> None:
        """Advance to the next line that is not blank."""
        line_count, between = number - self._number, where.offset - self._end
        if STARTED.match(self._last):
            self._newline = 2 if between == 2 * line_count else 1
        blanks = between - line_count * self._newline
        if blanks == _MARK and line_count == 1 and self._last.startswith("> ") and line.startswith("> "):
            self._marked = True
        self.unmarked = self._marked and blanks < _MARK
        if STARTED.match(line):
            self._marked = False
        self._last, self._end, self._number = line, where.offset + where.length, number


STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
MODEL = re.compile(r"> (?:Main model|Model): (\S{1,120})")
FOLDER = re.compile(r"> Git working dir: (.{1,400}?)\s*\Z")
TOKENS = re.compile(
    r"> Tokens: ([\d.,]{1,12})(k|M)? sent,(?: ([\d.,]{1,12})(k|M)? cache write,)?"
    r"(?: ([\d.,]{1,12})(k|M)? cache hit,)? ([\d.,]{1,12})(k|M)? received\."
    r"(?: Cost: \$([\d.]{1,12}) (?:message|request))?"
)
DEEDS = (
    (re.compile(r"> Applied edit to (.{1,400}?)\s*\Z"), "edit", "path"),
    (re.compile(r"> Added (.{1,400}?) to the chat(?: \(read-only\))?\.?\s*\Z"), "add", "path"),
    (re.compile(r"> Running (.{1,2000}?)\s*\Z"), "run", "command"),
)
# The lines after it name the block that failed, and belong to the same failure.
REFUSED = re.compile(r"> The LLM did not conform to the edit format")
# The end of those lines, after which the model's next answer begins.
QUOTED = known_pattern("aider-quoted")
# An error that ends the turn, if the program does not try again; one of its own comes after a traceback.
FAULT = re.compile(
    r"> (?:litellm\.(?P<name>\w{1,80}): |Model .{1,200} has hit a token limit!|\w{1,80}(?:Error|Exception): )"
)
TRACEBACK = "> Traceback (most recent call last)"
RETRIES = "> Retrying in "
# Errors of the service after which the program does not try again.
FOR_GOOD = known_words("aider-final-errors")
# Lines that the program prints before it waits for the person.
WAITS = re.compile(r"> (?:You can use /undo to undo and discard|Copied code context to clipboard)")
STOPPED = "> ^C again to exit"
LEFT = "> ^C KeyboardInterrupt"
# The person's answer to a question of the program.
_ANSWER = re.compile(r".{1,400}\(Y\)es/\(N\)o.{0,100}\]: ?\w{0,10}\Z")
_PASSES_ON = r"(?:ask|code|architect|context|help)\s+(?=\S)"
_PASSED_ON = re.compile(f"/{_PASSES_ON}")
# A command to the program, except those that pass a text on to the model.
_COMMAND = re.compile(f"[/!](?!{_PASSES_ON})")
_EXIT = re.compile(r"/(?:exit|quit)\Z")


def is_typed(line: str) -> bool:
    """Whether the person typed a line."""
    return line.rstrip() == "####" or line.startswith("#### ")


def typed(line: str) -> str:
    """Return the typed text of a line."""
    return line[5:].rstrip()


def is_request(typed_text: str) -> bool:
    """Whether what was typed is for the model."""
    typed_text = typed_text.strip()
    return typed_text not in ("", "<blank>") and not _COMMAND.match(typed_text) and not _ANSWER.match(typed_text)


def passed_on(typed_text: str) -> str:
    """Return the text that a command passes on to the model, which the log then repeats."""
    typed_text = typed_text.strip()
    match = _PASSED_ON.match(typed_text)
    return typed_text[match.end() :] if match else ""


def repeats(typed_text: str, passed_text: str) -> bool:
    """Whether a text repeats what a command passed on; `/help` adds what it found."""
    typed_text = typed_text.strip()
    return bool(passed_text) and (typed_text == passed_text or typed_text.startswith(f"# Question: {passed_text}\n"))


OPENING = b"# aider chat started at "
_SCALE = {"": 1.0, "k": 1e3, "M": 1e6}
_UNTOLD = Result(running=True)


class AiderReader(TranscriptReader):
    """Each line of the file is a record; a run of prompt lines is one prompt."""

    name = "aider"
    untold = ("times",)
    gaps = "one time per start, in the local time zone; commands have no outcome"
    many = True
    idle_starts = True

    def setup(self) -> None:
        self._asked = GatheredText()
        self._typed = 0  # The number of the last line that was typed; blank ones between two prompts are left out.
        self._passed_on = ""  # The text that a command passed on, until the model answers.
        self._ends = LineEnds()
        self._spoken = GatheredText()  # Words of the model without a token count yet.
        self._refused = False  # Whether lines about a failed edit follow, before the model answers again.
        self._traced = False
        self._fault: Where | None = None  # An error after which the program may try again.
        # Whether the model is to answer, or has, and the program may still work on that.
        self._stage: Literal["rests", "answers", "counted"] = "rests"
        self._idle = True  # Nothing has happened since the start: to have been left is not much.
        self._begun: dict[str, int] = {}

    def feed(self, record: bytes, where: Where, line: int) -> list[Event]:
        """The events that this line completes."""
        self._place, self._line = where, line
        self.out = []
        self._read_line(record, where)
        self._idle = self._idle and all(isinstance(event, SessionStart) for event in self.out)
        return self.out

    def _read_line(self, record: bytes, where: Where) -> None:
        line = record.decode("utf-8", "replace").rstrip("\r\n")
        self._ends.step(line, where, self._line)
        heading = self._ends.unmarked
        if is_typed(line):
            if heading or self._line != self._typed + 1:
                self._take_prompt(heading=heading)
            if not self._spoken:
                self._end_answer()
            self._asked.add(typed(line), self.now + STEP, where)
            self._typed = self._line
            return
        self._take_prompt(heading=heading)
        started = STARTED.match(line)
        if started:
            self._end_answer()
            self._start(started[1])
        elif line.startswith(">") and self.begun and not line.startswith(">>>"):
            self._program(line)
        elif line.strip() and self.begun:
            self._read_speech(line, where)

    def read(self, value: Any) -> None:
        """Nothing in it is JSON."""

    def finish(self) -> list[Event]:
        """A prompt or an answer that is the last thing written."""
        self.out = []
        self._take_prompt()
        self._end_answer()
        return self.out + super().finish()

    def pending_events(self) -> list[Event]:
        """Return the prompt or answer at the end of a growing history."""
        answers = [self._answer(self._spoken.at, self._spoken.where)] if self._spoken else []
        if self._asked:
            return [*answers, *self._prompt(), *super().pending_events()]
        failed = [self._failed(self._fault)] if self._fault is not None else []
        return [*answers, *failed, *super().pending_events()]

    def _prompt(self) -> list[Event]:
        gathered, at = self._asked, self._asked.at
        if not gathered or not self.begun:
            return []
        if _EXIT.match(gathered.text.strip()):
            end = SessionEnd(at=at, agent=self.agent, where=gathered.where, reason="exit")
            return [] if self._idle else [end]
        asks = is_request(gathered.text) and not repeats(gathered.text, self._passed_on)
        return [self.prompt(gathered.text, at=at, where=gathered.where)] if asks else []

    def _take_prompt(self, *, heading: bool = False) -> None:
        """Take what was typed as such, or a heading for the words of the model that it is."""
        gathered = self._asked
        if not gathered:
            return
        if heading:
            self._read_speech(gathered.text, gathered.where)
        else:
            self._end_answer()
            self.now, self._refused = gathered.at, False
            prompt_events = self._prompt()
            if prompt_events:
                self._stage = "rests" if isinstance(prompt_events[0], SessionEnd) else "answers"
                self.add(*prompt_events)
            self._passed_on = passed_on(gathered.text)
        self._asked = GatheredText()

    def _read_speech(self, line: str, where: Where) -> None:
        """A line of the model's, or of what the program quotes to it."""
        if self._refused and QUOTED.match(line):
            self._spoken = GatheredText()
            return
        if not self._spoken:
            self.now += STEP
        self._fault, self._traced, self._stage, self._passed_on = None, False, "answers", ""
        self._spoken.add(line, self.now, where)

    def _start(self, started_at: str) -> None:
        at = _time(started_at)
        if at is None:
            self.note("no time")
        self.now = self.now if at is None else at
        self._stage, self._refused, self._idle = "rests", False, True
        name = started_at.replace(" ", "T").replace(":", "-")
        again = self._begun[name] = self._begun.get(name, 0) + 1
        self.begin(name if again == 1 else f"{name}-{again}", synthetic_time=True, model="")

    def _program(self, line: str) -> None:
        """Read a line that the program printed."""
        model, folder = MODEL.match(line), FOLDER.match(line)
        if model:
            self.model = model[1]
        elif folder:
            self.calls.project = folder[1]
        elif line.startswith(RETRIES):
            self._fault = None
        elif line.startswith(TRACEBACK):
            self._traced = True
        elif line.startswith((STOPPED, LEFT)) or WAITS.match(line):
            self._rest(line)
        else:
            self._work(line)

    def _work(self, line: str) -> None:
        """Read what the program prints about an answer: tokens, edits, errors."""
        tokens, fault = TOKENS.match(line), FAULT.match(line)
        if tokens:
            self._refused = False
            self._count(tokens)
        elif fault and (fault["name"] or self._traced or " has hit a token limit!" in line):
            self._end_answer()
            self._traced, self._fault = False, self.here()
            if fault["name"] is None or fault["name"] in FOR_GOOD:
                self._end_answer()
        elif REFUSED.match(line):
            self._refused, self._stage = True, "answers"
            self._deed("edit", {}, Result(text=line[2:], error=True))
        else:
            for pattern, tool, argument in DEEDS:
                if match := pattern.match(line):
                    result = _UNTOLD if tool == "run" else Result(text=line[2:], empty=False)
                    self._deed(tool, {argument: match[1]}, result)
                    return

    def _rest(self, line: str) -> None:
        """The program waits for the person, who may have stopped it, or left."""
        self._end_answer()
        stage, self._stage, self._refused = self._stage, "rests", False
        self.now += STEP
        if line.startswith(LEFT):
            end = SessionEnd(at=self.now, agent=self.agent, where=self.here(), reason="Control-C")
            self.add(None if self._idle and not self.out else end)
        elif stage == "answers" and line.startswith(STOPPED):
            self.add(self.prompt("", interrupt=True))
        elif stage != "rests" and not line.startswith(STOPPED):
            self.add(Turn(at=self.now, agent=self.agent, where=self.here(), cost=0.0, stop=ENDED))

    def _end_answer(self) -> None:
        """Close the open answer and the last error, which will not be retried."""
        if self._spoken:
            self.add(self._answer(self._spoken.at, self._spoken.where))
            self._spoken = GatheredText()
        if self._fault is not None:
            self.now += STEP
            self.add(self._failed(self._fault))
            self._fault, self._stage = None, "rests"

    def _failed(self, where: Where) -> Turn:
        return failed_turn(self.now, self.agent, where, f"byte-{where.offset}")

    def _deed(self, tool: str, arguments: dict[str, str], result: Result) -> None:
        self._end_answer()
        self.now += STEP
        self.add(self.whole_call(f"byte-{self._place.offset}", tool, arguments, result))

    def _count(self, match: re.Match[str]) -> None:
        self.now += STEP
        sent, written, read, answered = (_number(match[group], match[group + 1]) for group in (1, 3, 5, 7))
        tokens = without_cached(sent, answered, read, written)
        self.add(self._answer(self.now, self.here(), tokens=tokens, cost=amount(_decimal(match[9]))))
        self._spoken, self._fault, self._stage = GatheredText(), None, "counted"

    def _answer(self, at: float, where: Where, **facts: Any) -> Turn:
        gathered = self._spoken
        return self.turn(
            unthought(gathered.text),
            at=at,
            where=where,
            message=f"byte-{where.offset}",
            said_at=gathered.where if gathered else None,
            **facts,
        )


def aider_outline(data: bytes) -> Outline:
    """The first prompt, and the last start."""
    prompt_text, last = "", None
    for line in data.decode("utf-8", "replace").splitlines():
        started = STARTED.match(line)
        if started:
            last = _time(started[1])
        elif not prompt_text and is_typed(line) and is_request(typed(line)):
            prompt_text = typed(line).strip()
    return Outline(prompt_text, last)


def _time(stamp_text: str) -> float | None:
    """Return the time of a start; the log has no time zone, so it is taken as UTC."""
    try:
        return datetime.strptime(stamp_text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _number(digits: str | None, scale: str | None) -> int:
    return int(_decimal(digits) * _SCALE[scale or ""])


def _decimal(digits: str | None) -> float:
    try:
        return float((digits or "0").replace(",", ""))
    except ValueError:
        return 0.0


def _sniff(sample: Sample) -> int:
    return 95 if sample.head.lstrip().startswith(OPENING) else 0


FORMATS = (Format("aider", "lines", _sniff, AiderReader, opening=OPENING, outline=aider_outline),)
