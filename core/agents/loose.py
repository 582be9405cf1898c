"""Reading JSON of any shape: what is missing or of the wrong type is counted, and the rest is read."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import structs

from core.agents.calls import AnsweredCalls, Calls
from core.agents.log_clock import FAR, ClockState, LogClock
from core.agents.log_clock import STEP as STEP
from core.agents.reader import AgentKit, AgentReader
from core.agents.usage import ClosedTurns, Usage
from core.engine.fingerprint import fingerprint
from core.events import MAIN, MATTERS, Event, Matter, Prompt, SessionStart, ToolUse, Turn, Where
from core.logs.event_redaction import cleaned
from core.logs.format import PausingReader
from core.logs.lines import glued
from core.logs.times import seconds

_LARGEST = 1 << 53
_ROUNDING = 1e-6
"""Dollars that a sum may be off by."""
_DEEPEST = 8
_NOWHERE = Where("")
_THOUGHT = re.compile(r"\A\s*<(think(?:ing(?:-content-\w{1,64})?)?)>.*?(?:</\1>|\Z)", re.DOTALL)
"""How models without a place for thoughts mark them."""


def decode(data: bytes) -> Any:
    """The JSON value in some bytes; None where there is none."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def text(value: Any) -> str:
    """A text, or a blank one."""
    return value if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else []


def whole_number(value: Any) -> int:
    """A whole number of things, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
        return 0
    return int(value)


def amount(value: Any) -> float | None:
    """A sum above 0, or None: a log that says 0 does not know."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LARGEST:
        return None
    return float(value)


def beyond(total: float | None, told: float) -> float | None:
    """What a sum of dollars holds beyond what was told of its parts, or None."""
    return None if total is None or total - told < _ROUNDING else total - told


def code(value: Any) -> int | None:
    """An exit code, or None."""
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 11:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 32:
        return None
    return value


def words(value: Any, depth: int = 0) -> str:
    """The text of a message, whether it is one, a list of parts, or an object that holds one."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(found for part in value if (found := words(part, depth + 1)))
    if isinstance(value, dict):
        for name in ("text", "content", "output", "error", "message"):
            found = words(value.get(name), depth + 1)
            if found:
                return found
    return ""


def unthought(said: str) -> str:
    """What a model said without the thoughts that it wrote out before it."""
    return _THOUGHT.sub("", said).strip()


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


class LooseReader(AgentReader, PausingReader):
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


def left_untold(**told: Any) -> tuple[Matter, ...]:
    """Which matters a log leaves untold, of those that are named here with what tells them."""
    return tuple(matter for matter in MATTERS if not told.get(matter, True))


def is_secret(told: str) -> bool:
    """Whether a path or a name holds what must not be kept."""
    return cleaned(told) != told


def kept(event: Event | None, out: list[Event]) -> None:
    """Add an event, where there is one."""
    if event is not None:
        out.append(event)


def untimed(use: ToolUse | None) -> ToolUse | None:
    """A tool use whose log tells no time for its result."""
    return None if use is None else structs.replace(use, duration=None)
