"""What the readers of all agents are given beyond the fault counter: tables of tools and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.logs.format import Reader

if TYPE_CHECKING:
    pass
import re
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import structs

from core.agents.calls import AnsweredCalls, Calls, Result
from core.agents.normalizer import AgentKit
from core.agents.turns import ClosedTurns, Usage
from core.agents.values import code, decode, is_secret, items, table, text, words
from core.engine.fingerprint import fingerprint
from core.events import (
    MAIN,
    MATTERS,
    AgentEnd,
    AgentStart,
    Event,
    Matter,
    Prompt,
    SessionStart,
    ToolUse,
    Turn,
    Where,
)
from core.logs.format import PausingReader
from core.logs.lines import glued
from core.logs.log_files import is_file, read_log
from core.logs.times import seconds


class AgentReader(Reader):
    """A reader that knows the tables."""

    kit: AgentKit


STEP = 10.0
"""Seconds between two steps of a log that holds no times."""
FAR = 10 * 365 * 86_400.0
"""Seconds by which no two records of one log are apart: ten years."""
NO_TIME = "no time"
FAR_OFF = "a time years off"
_EARLIEST = 631_152_000.0
"""The year 1990: clocks that were never set are before it."""
_LATEST = 32_503_680_000.0
"""The year 3000."""


class ClockState(NamedTuple):
    """All that a clock knows beside the last time."""

    made_up: bool = False
    shift: float = 0.0
    doubted: tuple[float, float] = (0.0, 0.0)


class LogClock:
    """Settles the times that are not simply those of the record after.

    A log that does not begin with a time is taken to hold none: steps are made up, and what times it tells
    later say only how much has passed. In any other a time that is years away from the last one is taken as
    unknown, unless the next one told is near it: then the log has gone there.
    """

    __slots__ = ("_doubted", "_shift", "made_up")

    def __init__(self) -> None:
        self.made_up = False
        """Whether the log is taken to hold no times."""
        self._shift = 0.0
        self._doubted = (0.0, 0.0)
        """The time that was not believed last, and the time that was taken for it."""

    def settle(self, told: float | None, last: float) -> tuple[float, str]:
        """The time of a record after the `last`, which is 0 for none, and what is wrong with it.

        A time that is near the last one needs no settling.
        """
        if last == 0.0 and not self.made_up:
            self.made_up = told is None or not _EARLIEST <= told <= _LATEST
        if self.made_up:
            return self._made_up(told, last), ""
        if told is None:
            return last, NO_TIME
        if last == 0.0 or _near(told, last):
            return told, ""
        if self._doubted[1] == last and _near(told, self._doubted[0]):
            return told, ""
        self._doubted = (told, last)
        return last, FAR_OFF

    def _made_up(self, told: float | None, last: float) -> float:
        if told is None:
            return last + STEP
        if last != 0.0 and not _near(told + self._shift, last):
            self._shift = last - told
        return told + self._shift or STEP

    def pause(self) -> ClockState:
        """What it knows."""
        return ClockState(self.made_up, self._shift, self._doubted)

    def resume(self, state: ClockState) -> None:
        """Go on from there."""
        self.made_up, self._shift, self._doubted = state


def _near(told: float, last: float) -> bool:
    return -FAR < told - last < FAR


_NOWHERE = Where("")


class _Paused(NamedTuple):
    """What a reader knows while no answer and no call is open."""

    session: str
    now: float
    begun: bool
    calls: AnsweredCalls
    usage: ClosedTurns
    own: Any
    """What the reader of one agent adds."""
    clock: ClockState


class TranscriptReader(AgentReader, PausingReader):
    """A reader that looks at each field before it trusts it."""

    many: ClassVar[bool] = False
    """Whether one log may hold several sessions; each begins with a `SessionStart` of the main agent."""
    interleaved: ClassVar[bool] = False
    """Whether every line names its session, so that lines of several may stand between each other's."""
    idle_starts: ClassVar[bool] = False
    """Whether such a log also tells of starts after which nothing happened; they are not sessions."""

    def __init__(self, kit: AgentKit, *, agent: str = MAIN, session: str = "") -> None:
        super().__init__(kit, agent=agent, session=session)
        self.file_name = session
        """What sessions are named after that the log gives no name."""
        self.model = ""
        self.calls = Calls(kit, self.name)
        self.usage = Usage(kit.models)
        self.now = 0.0
        """The last time the log told."""
        self.clock = LogClock()
        self.begun = False
        self._place = _NOWHERE
        self._line = 0

    def feed(self, record: bytes, where: Where, line: int) -> list[Event]:
        """The events that this record completes."""
        self._place, self._line = where, line
        value = decode(record)
        if value is None and (parts := glued(record, where)):
            return [event for part, place in parts for event in self.feed(part, place, line)]
        out: list[Event] = []
        if isinstance(value, dict | list):
            self.read(value, out)
            for use in self.calls.joined():
                self.joined(use, out)
        else:
            self.note("not JSON" if value is None else "not an object")
        return out

    @abstractmethod
    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of one object or list."""

    def joined(self, use: ToolUse, out: list[Event]) -> None:
        """Add a tool use whose result had come before its call."""
        out.append(use)

    def finish(self) -> list[Event]:
        """The answer still open, and the calls that never got a result."""
        return [*self.usage.finish(), *self.calls.finish()]

    def pending_events(self) -> list[Event]:
        """The same, for a log that still grows."""
        return [*self.usage.finish(), *self.calls.unanswered()]

    def pause(self) -> bytes | None:
        """All it knows between two records, which is ids, times and paths alone."""
        calls, usage = self.calls.pause(), self.usage.pause()
        if calls is None or usage is None or any(map(is_secret, calls.changed)):
            return None
        own = self.own_state()
        if own is None:
            return None
        clock = self.clock.pause()
        return msgspec.msgpack.encode(_Paused(self.session, self.now, self.begun, calls, usage, own, clock))

    def resume(self, state: bytes) -> None:
        """Go on from there."""
        paused = msgspec.msgpack.decode(state, type=_Paused)
        self.session, self.now, self.begun = paused.session, paused.now, paused.begun
        self.calls.resume(paused.calls)
        self.usage.resume(paused.usage)
        self.clock.resume(paused.clock)
        self.own_resume(paused.own)

    def own_state(self) -> Any:
        """What a reader knows beside calls and answers, without words of the log; None while it waits for
        a record to come, or where it was never taught to pause."""
        return None

    def own_resume(self, own: Any) -> None:
        """Go on from there."""

    def close_all(self) -> list[Event]:
        """The same amid a log, where nothing of it is waited for any more."""
        return [*self.usage.close_all(), *self.calls.give_up()]

    def note(self, reason: str) -> None:
        """Count a fault of this record."""
        self.kit.diagnostics.note(self._place.file, self._line, reason)

    def table(self, value: Any, what: str) -> dict[str, Any]:
        """An object; anything else but nothing is counted."""
        if value is not None and not isinstance(value, dict):
            self.note(f"{what} is not an object")
        return table(value)

    def items(self, value: Any, what: str) -> list[Any]:
        """A list; anything else but nothing is counted."""
        if value is not None and not isinstance(value, list):
            self.note(f"{what} is not a list")
        return items(value)

    def objects(self, value: Any, what: str) -> list[dict[str, Any]]:
        """The objects of a list; whatever else stands in it is counted."""
        return [item for _, item in self.placed(value, what)]

    def placed(self, value: Any, what: str) -> list[tuple[int, dict[str, Any]]]:
        """The same with their places in the list."""
        found = []
        for place, item in enumerate(self.items(value, what)):
            if isinstance(item, dict):
                found.append((place, item))
            else:
                self.note(f"{what} holds what is not an object")
        return found

    def moment(self, *values: Any) -> float:
        """The first of these that is a time; else the last time told, counted, or a step beyond it."""
        at = None
        for value in values:
            at = seconds(value)
            if at is not None:
                break
        if at is None or not self.now or not -FAR < at - self.now < FAR:
            at, fault = self.clock.settle(at, self.now)
            if fault:
                self.note(fault)
        self.now = at
        return at

    def here(self, entry: str = "") -> Where:
        """The place of this record, or of an entry in it, named by a JSON pointer."""
        place = self._place
        return Where(place.file, place.offset, place.length, entry) if entry else place

    def start(self, at: float, session: str, where: Where | None = None, **told: Any) -> SessionStart:
        """The beginning of an agent's log."""
        self.begun = True
        self.session = session or self.session
        if told.get("project"):
            self.calls.project = told["project"]
        if self.clock.made_up or told.get("synthetic_time"):
            left = {*told.get("untold", self.untold), "times"}
            told |= {"synthetic_time": True, "untold": tuple(one for one in MATTERS if one in left)}
        return SessionStart(
            at=at,
            agent=self.agent,
            where=where or self._place,
            session=self.session,
            tool=self.name,
            **{"untold": self.untold, **told},
        )

    def total(
        self,
        model: str,
        cost: float | None,
        *,
        sent: int = 0,
        answered: int = 0,
        read: int = 0,
        written: int = 0,
        message: str = "total",
    ) -> Turn | None:
        """What was spent as a whole and not told of each answer; None where nothing is told."""
        tokens = sent + answered + read + written
        if cost is None and tokens:
            cost = self.kit.models.cost(model, sent, answered, read, written, several=True)
        if cost is None and not tokens:
            return None
        return Turn(
            at=self.now,
            agent=self.agent,
            where=self._place,
            id=message,
            model=model,
            input_tokens=sent,
            output_tokens=answered,
            cache_read=read,
            cache_write=written,
            cost=cost,
            stop="total",
        )

    def prompt(
        self, at: float, said: str, where: Where, agent: str = "", *, interrupt: bool = False
    ) -> Prompt:
        """The person speaks, or stops the agent."""
        return Prompt(
            at=at,
            agent=agent or self.agent,
            where=where,
            characters=len(said),
            call=fingerprint(said),
            interrupt=interrupt,
        )

    def answer(self, at: float, said: str, out: list[Event], where: Where | None = None, **told: Any) -> None:
        """Add one answer of the model; `told` is what the log says of its tokens, cost and end."""
        told = {"model": self.model, "agent": self.agent, **told}
        kept(self.usage.once(self.kit.models.turn(at, where=where or self.here(), said=said, **told)), out)

    def call(
        self, name: str, tool: str, arguments: Any, at: float, where: Where | None = None, agent: str = ""
    ) -> bool:
        """Take in a call; arguments that are JSON in a text are decoded."""
        if isinstance(arguments, str):
            arguments = arguments.encode("utf-8", "surrogatepass")
        place = where or self.here()
        return self.calls.begin(
            name or f"{self._line}{place.entry}", tool or "invalid", arguments, at, agent or self.agent, place
        )

    def result(
        self,
        name: str,
        at: float,
        result: Result,
        out: list[Event],
        where: Where | None = None,
        *,
        timed: bool = True,
    ) -> None:
        """Add the tool use that a result completes; `timed` says whether the log times results."""
        use = self.calls.end(name, at, result, where or self.here(), line=self._line)
        kept(use if timed else untimed(use), out)

    def child_started(self, child: str, at: float, out: list[Event], role: str = "") -> None:
        """Add the start of a sub-agent."""
        out.append(AgentStart(at=at, agent=self.agent, where=self.here(), child=child, role=role))

    def child_ended(self, child: str, at: float, out: list[Event], *, well: bool = True, **told: Any) -> None:
        """Add a sub-agent's report."""
        outcome: Any = "success" if well else "failure"
        out.append(AgentEnd(at=at, agent=self.agent, where=self.here(), child=child, outcome=outcome, **told))


_EXIT_TEXT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: exit)? (?:code|status)|return ?code)[: ]*(-?\d{1,9})", re.IGNORECASE
)
_FAILED = re.compile(r"\s*(?:ERROR\b|Error:|Error executing|Traceback \(most recent call last\))")
_STREAMS = frozenset(("output", "stdout", "content"))
_CODES = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")


def left_untold(**told: Any) -> tuple[Matter, ...]:
    """Which matters a log leaves untold, of those that are named here with what tells them."""
    return tuple(matter for matter in MATTERS if not told.get(matter, True))


def kept(event: Event | None, out: list[Event]) -> None:
    """Add an event, where there is one."""
    if event is not None:
        out.append(event)


def untimed(use: ToolUse | None) -> ToolUse | None:
    """A tool use whose log tells no time for its result."""
    return None if use is None else structs.replace(use, duration=None)


def sidecar(file: str, name: str) -> dict[str, Any]:
    """The object in a file beside a log; an empty one if there is none."""
    path = Path(file).with_name(name)
    try:
        return table(decode(read_log(path))) if file and is_file(path) else {}
    except OSError:
        return {}


def read_result(value: Any, *, error: bool = False, rejected: bool = False, guess: bool = False) -> Result:
    """What a result says: fields of an object or of JSON in a text, else its text.

    With `guess`, a log without a flag of its own, the text's exit code or error words decide.
    """
    told = value
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        told = decode(value.encode("utf-8", "surrogatepass"))
    facts = table(told)
    exited = next((found for key in _CODES if (found := _exit(facts.get(key))) is not None), None)
    said = next((one for key in ("output", "stdout") if (one := text(facts.get(key)))), "") or words(value)
    if facts and not said and not _STREAMS & facts.keys():
        said = msgspec.json.encode(facts).decode()
    wrong = facts.get("success") is False or bool(facts.get("error")) or facts.get("timed_out") is True
    if guess and not facts and exited is None:
        codes = _EXIT_TEXT.findall(said[-400:])
        exited = int(codes[-1]) if codes else None
        wrong = exited is None and bool(_FAILED.match(said[:200]))
    return Result(text=said, error=error or wrong, exit_code=exited, rejected=rejected)


def _exit(value: Any) -> int | None:
    """An exit code, or the one in a text such as `exit status: 1`."""
    return code(value.rpartition(" ")[2]) if isinstance(value, str) else code(value)
