"""The skeleton of all readers: times, places, answers, calls and results, read without trusting any field."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import structs

from core import events
from core.agents.calls import Calls, Result, said_event, split_advice
from core.agents.models import Usage
from core.agents.normalizer import AgentKit
from core.agents.tables import known_words
from core.agents.values import TokenCounts, code, decode, items, table, text, whole_number, words
from core.engine.values import fingerprint
from core.logs.database import MAGIC, reading, tables
from core.logs.format import Reader, Sample
from core.logs.lines import glued_objects, seconds
from core.logs.log_files import is_file, read_log

PARTS = known_words("parts")
STEP = 10.0  # Seconds between two steps of a log without times.
FAR = 10 * 365 * 86_400.0  # Ten years in seconds: no two records of one log are this far apart.
NO_TOKENS = TokenCounts()
NO_TIME = "no time"
FAR_OFF = "a time that is years off"
_EARLIEST = 631_152_000.0  # The year 1990: only clocks that were never set are before it.
_LATEST = 32_503_680_000.0  # The year 3000.
_NOWHERE = events.Where("")
_NAMES = ("project", "branch", "version", "model", "parent")  # Facts of a session that are texts.
_LONGEST_KIND = 60  # Characters of a record's kind that are counted.


class LogClock:
    """Settles times that are missing or that do not follow the last one.

    A log that does not begin with a time is taken to have none: its steps are made up, and times it has later
    only say how much has passed. In any other log a time that is years away from the last one is ignored,
    unless the next one is near it: then the log has moved there.
    """

    def __init__(self) -> None:
        self.made_up = False  # Whether the log is taken to have no times.
        self._shift = 0.0
        self._doubted = (0.0, 0.0)  # The last time that was ignored, and the time used in its place.

    def settle(self, stamp: float | None, last: float) -> tuple[float, str]:
        """Return the time of a record after `last` (0 for none) and what is wrong with its own `stamp`."""
        if last == 0.0 and not self.made_up:
            self.made_up = stamp is None or not _EARLIEST <= stamp <= _LATEST
        if self.made_up:
            return self._made_up_time(stamp, last), ""
        if stamp is None:
            return last, NO_TIME
        if last == 0.0 or _near(stamp, last):
            return stamp, ""
        if self._doubted[1] == last and _near(stamp, self._doubted[0]):
            return stamp, ""
        self._doubted = (stamp, last)
        return last, FAR_OFF

    def _made_up_time(self, stamp: float | None, last: float) -> float:
        if stamp is None:
            return last + STEP
        if last != 0.0 and not _near(stamp + self._shift, last):
            self._shift = last - stamp
        return stamp + self._shift or STEP


def _near(stamp: float, last: float) -> bool:
    return -FAR < stamp - last < FAR


class AgentReader(Reader):
    """A reader with the tables of tools and models."""

    kit: AgentKit


class TranscriptReader(AgentReader):
    """Reads records of JSON; an agent's reader only says what is particular to its records."""

    # Kinds of records that it reads or ignores on purpose; `check_kind` counts any other.
    kinds: ClassVar[frozenset[str]] = frozenset()
    # Whether one log may contain several sessions; each begins with a `SessionStart` of the main agent.
    many: ClassVar[bool] = False
    interleaved: ClassVar[bool] = False  # Whether every line names its session, so that lines of several may be mixed.
    # Whether such a log also contains starts after which nothing happened; they are not sessions.
    idle_starts: ClassVar[bool] = False

    def __init__(self, kit: AgentKit, *, agent: str = events.MAIN, session: str = "") -> None:
        super().__init__(kit, agent=agent, session=session)
        self.file_name = session  # The name of sessions that the log does not name.
        self.model = ""
        self.version = ""  # The version of the agent, if the log says it.
        self.calls = Calls(kit, self.name)
        self.usage = Usage(kit.models)
        self.now = 0.0  # The last time in the log.
        self.clock = LogClock()
        self.begun = False
        self.out: list[events.Event] = []  # The events of this record so far.
        self.read_ids: set[str] = set()  # What was read, in logs that repeat it.
        self._record = self._place = _NOWHERE  # The places of the record and of the entry in it that is read.
        self._line = 0
        self.setup()

    def setup(self) -> None:
        """Set up the state that is particular to one agent's reader."""

    def feed(self, record: bytes, where: events.Where, line: int) -> list[events.Event]:
        """Return the events that this record completes."""
        self._record, self._place, self._line = where, where, line
        value = decode(record)
        if value is None and (parts := glued_objects(record, where)):
            return [event for part, place in parts for event in self.feed(part, place, line)]
        out = self.out = []
        if isinstance(value, dict | list):
            self.read(value)
            for use in self.calls.joined():
                self.joined(use)
        else:
            self.note("not JSON" if value is None else "not an object")
        return out

    @abstractmethod
    def read(self, value: Any) -> None:
        """Add the events of one object or list."""

    def add(self, *new: events.Event | None) -> None:
        """Add events of this record, as far as there are any."""
        for event in new:
            if event is not None:
                self.out.append(event)

    def is_new(self, name: str) -> bool:
        """Whether something with this id was not read before; now it was."""
        if name in self.read_ids:
            return False
        self.read_ids.add(name)
        return True

    def joined(self, use: events.ToolUse) -> None:
        """Add a tool use whose result came before its call."""
        self.add(use)

    def finish(self) -> list[events.Event]:
        """Return the open answer and the calls that never got a result."""
        return [*self.own_pending(), *self.usage.finish(), *self.calls.finish()]

    def pending_events(self) -> list[events.Event]:
        """Return the open answer and the calls without a result so far."""
        return [*self.own_pending(), *self.usage.finish(), *self.calls.unanswered()]

    def own_pending(self) -> Iterable[events.Event]:
        """Return events that one agent's reader holds back until more is logged."""
        return ()

    def close_all(self) -> list[events.Event]:
        """Close the open answer and give up the open calls in the middle of a log, and return them."""
        return [*self.usage.close_all(), *self.calls.give_up()]

    def note(self, reason: str) -> None:
        """Count a fault of this record."""
        self.kit.diagnostics.note(self._place.file, self._line, reason)

    def check_kind(self, kind: str) -> None:
        """Count a record of a kind that is not among `kinds`."""
        if kind not in self.kinds:
            self.skip(kind)

    def check_parts(self, parts: Iterable[Any], name: str = "type") -> None:
        """Count the parts of a message whose kind is neither usual nor among `kinds`."""
        for part in map(table, parts):
            if (kind := text(part.get(name))) and kind not in PARTS:
                self.check_kind(kind)

    def check_names(self, parts: Iterable[Any]) -> None:
        """Count the parts of a message that have no usual name, as parts of Gemini's models have."""
        for part in map(table, parts):
            if part and PARTS.isdisjoint(part):
                self.skip(next(iter(part)))

    def skip(self, kind: str) -> None:
        """Count a record of a kind that this reader does not know."""
        self.kit.diagnostics.skip(self.name, self.version, kind[:_LONGEST_KIND], self._place.file)

    def table(self, value: Any, what: str) -> dict[str, Any]:
        """Return an object; anything else but null is counted as a fault."""
        if value is not None and not isinstance(value, dict):
            self.note(f"{what} is not an object")
        return table(value)

    def items(self, value: Any, what: str) -> list[Any]:
        """Return a list; anything else but null is counted as a fault."""
        if value is not None and not isinstance(value, list):
            self.note(f"{what} is not a list")
        return items(value)

    def objects(self, value: Any, what: str) -> list[dict[str, Any]]:
        """Return the objects of a list; its other items are counted as faults."""
        return [item for _, item in self.placed(value, what)]

    def placed(self, value: Any, what: str) -> list[tuple[int, dict[str, Any]]]:
        """Return the objects of a list with their indexes; its other items are counted as faults."""
        objects = []
        for place, item in enumerate(self.items(value, what)):
            if isinstance(item, dict):
                objects.append((place, item))
            else:
                self.note(f"{what} contains an item that is not an object")
        return objects

    def moment(self, *values: Any) -> float:
        """Advance to the first of these that is a time; without one, count a fault or make a time up."""
        at = next((stamp for value in values if (stamp := seconds(value)) is not None), None)
        if at is None or not self.now or not -FAR < at - self.now < FAR:
            at, fault = self.clock.settle(at, self.now)
            if fault:
                self.note(fault)
        self.now = at
        return at

    def advance(self, at: float | None, *, timed: bool) -> None:
        """Advance to the time of an entry, or by a step if it is not `timed`."""
        if at is not None:
            self.moment(at)
        elif not timed:
            self.now += STEP

    def time_of(self, value: Any) -> float:
        """Return a time of the log, or the last one if the value is none."""
        at = seconds(value)
        return self.now if at is None else at

    def enter(self, entry: str = "") -> events.Where:
        """Go to an entry of this record, named by a JSON pointer, and return its place; without one to the record."""
        record = self._record
        place = events.Where(record.file, record.offset, record.length, f"{record.entry}{entry}") if entry else record
        self._place = place
        return place

    def here(self, entry: str = "") -> events.Where:
        """Return the place of this entry, or of one in it."""
        place = self._place
        return events.Where(place.file, place.offset, place.length, f"{place.entry}{entry}") if entry else place

    def begin(self, session: Any, *, at: float | None = None, where: events.Where | None = None, **facts: Any) -> None:
        """Add the beginning of an agent's log; names in its `facts` that are not texts are left out."""
        facts = {"model": self.model, **facts}
        facts |= {name: text(facts[name]) for name in _NAMES if name in facts}
        self.begun = True
        self.session = text(session) or self.session
        self.version = facts.get("version", "") or self.version
        if facts.get("project"):
            self.calls.project = facts["project"]
        if self.clock.made_up or facts.get("synthetic_time"):
            left = {*facts.get("untold", self.untold), "times"}
            facts |= {"synthetic_time": True, "untold": tuple(one for one in events.MATTERS if one in left)}
        facts = {"untold": self.untold, **facts}
        self.add(events.SessionStart(**self._common(at, "", where), session=self.session, tool=self.name, **facts))

    def _common(self, at: float | None = None, agent: str = "", where: events.Where | None = None) -> dict[str, Any]:
        """Return what all events have: by default the time and the place of this entry, and this reader's agent."""
        return {"at": self.now if at is None else at, "agent": agent or self.agent, "where": where or self._place}

    def prompt(self, words: str, *, interrupt: bool = False, mode: str = "", **known: Any) -> events.Prompt:
        """Return the event of a person who says something, or stops the agent."""
        facts = {**self._common(**known), "characters": len(words), "call": fingerprint(words)}
        names = 0 if interrupt else self.calls.look_for_names(words, facts["agent"])
        return events.Prompt(**facts, names=names, interrupt=interrupt, mode=mode)

    def rollback(self, turns: Any, kept: events.Where | None = None) -> events.Rollback:
        """Return the event of a person who takes prompts back."""
        return events.Rollback(**self._common(), turns=whole_number(turns), kept=kept)

    def turn(
        self, said: str, *, tokens: TokenCounts = NO_TOKENS, at: float | None = None, model: Any = "", **facts: Any
    ) -> events.Turn:
        """Return the turn of an answer; `facts` are its cost, end and where its words are."""
        facts = {"agent": self.agent, "where": self._place, **tokens._asdict(), **facts}
        model, at = text(model) or self.model, self.now if at is None else at
        return self.kit.models.turn(at, model=model, said=said, **facts)

    def with_context(self, turn: events.Turn, context: int, **facts: Any) -> events.Turn:
        """Return a turn with a context that its log counts, and the window for it."""
        window = self.kit.models.window(turn.model, context)
        return structs.replace(turn, context_tokens=context, context_window=window, **facts)

    def answer(self, said: str, **facts: Any) -> events.Turn | None:
        """Add the turn of an answer, once per message id, and return it if it is new."""
        turn = self.usage.deduplicate(self.turn(said, **facts))
        self.add(turn)
        return turn

    def total(
        self, model: str, cost: float | None, tokens: TokenCounts = NO_TOKENS, message: str = "total"
    ) -> events.Turn | None:
        """Return the turn of what was spent as a whole and not logged per answer; None if nothing was."""
        if cost is None and any(tokens):
            cost = self.kit.models.cost(model, *tokens, several=True)
        if cost is None and not any(tokens):
            return None
        return events.Turn(**self._common(), id=message, model=model, cost=cost, stop="total", **tokens._asdict())

    def call(self, name: str, tool: str, arguments: Any, *, at: float | None = None, agent: str = "") -> bool:
        """Open a call and return whether it is new; arguments that are JSON in a text are decoded."""
        if isinstance(arguments, str):
            arguments = arguments.encode("utf-8", "surrogatepass")
        place, at = self._place, self.now if at is None else at
        name, tool = name or f"{self._line}{place.entry}", tool or "invalid"
        return self.calls.begin(name, tool, arguments, at, agent or self.agent, place)

    def function_calls(self, calls: Iterable[Any], message: str) -> None:
        """Open the calls of an answer in the form of chat completions; those without an id are named by their place."""
        for place, call in enumerate(map(table, calls)):
            function = table(call.get("function")) or call
            name = text(call.get("id")) or f"{message}/{place}"
            self.call(name, text(function.get("name")), function.get("arguments"))

    def part_calls(self, parts: Iterable[Any], kind: str, arguments: str) -> None:
        """Open the calls among the parts of an answer."""
        for place, part in enumerate(map(table, parts)):
            if part.get("type") == kind:
                name = text(part.get("id")) or f"line-{self._line}/{place}"
                self.calls.begin(name, text(part.get("name")), part.get(arguments), self.now, self.agent, self._place)

    def delegates(self, name: str, role: str) -> bool:
        """Whether a call starts a sub-agent, which is added and has the call's name."""
        kind = self.calls.kind(name)
        if kind is None or kind.action != "delegation":
            return False
        self.child_started(name, role)
        return True

    def result(self, name: str, result: Result, *, advice: str = "", timed: bool = True) -> events.ToolUse | None:
        """Add and return the tool use that a result completes, and add the sentence of ours behind it.

        `timed` says whether the log times results.
        """
        use = self.calls.end(name, self.now, result, self._place, line=self._line)
        if use is not None:
            use = use if timed else structs.replace(use, duration=None)
            self.add(use, said_event(advice, self.now, use.agent, self._place) if advice else None)
        return use

    def whole_call(self, name: str, tool: str, arguments: Any, result: Result) -> events.ToolUse:
        """Return the tool use of a record that contains both the call and its result."""
        if isinstance(arguments, str):
            arguments = arguments.encode("utf-8", "surrogatepass")
        return self.calls.both(name, tool, arguments, None, self.now, result, self._place, self.agent)

    def end_call(
        self, name: str, tool: str, arguments: Any, result: Result, at: float, *, began: Any = None, agent: str = ""
    ) -> tuple[events.ToolUse | None, events.Advice | None]:
        """Return the tool use of a call that may have been open before, and our sentence at the end of its output."""
        plain, sentence = split_advice(result.text)
        result, agent = result._replace(text=plain), agent or self.agent
        if self.calls.is_known(name):
            use = self.calls.end(name, at, result, self._place, line=self._line)
        else:
            use = self.calls.both(name, tool, arguments, began, at, result, self._place, agent)
        advice = said_event(sentence, at, agent, self._place) if sentence and use is not None else None
        return use, advice

    def compaction(self, agent: str = "", *, trigger: str = "", before: Any = 0, after: Any = 0) -> events.Compaction:
        """Return the event of a compaction of an agent's context; anything but a number of tokens is unknown."""
        spent, left = whole_number(before), whole_number(after)
        return events.Compaction(**self._common(agent=agent), trigger=trigger, tokens_before=spent, tokens_after=left)

    def child_started(self, child: str, role: str = "", **known: Any) -> None:
        """Add the start of a sub-agent."""
        self.add(events.AgentStart(**self._common(**known), child=child, role=role))

    def child_ended(self, child: str, *, at: float | None = None, agent: str = "", **facts: Any) -> None:
        """Add the report of a sub-agent, a success unless the `facts` have another outcome."""
        self.add(events.AgentEnd(**self._common(at, agent), child=child, **facts))


class RunReader(TranscriptReader):
    """A reader of whole runs, which know what they spent beside the answers."""

    _spent: events.Turn | None = None  # Until it is added.

    def own_pending(self) -> Iterable[events.Event]:
        """Return what a run without an end spent."""
        return filter(None, [self._spent])

    def end_run(self, status: Any) -> None:
        """Add what the run spent and its end, if its status says that it ended."""
        if self._spent is not None:
            self._spent = structs.replace(self._spent, at=self.now)
        if status is not None:
            self.add(*self.close_all())
            self.add(self._spent)
            self._spent = None
            self.add(events.SessionEnd(at=self.now, agent=self.agent, where=self._place, reason=text(status)))


class LateReader(TranscriptReader):
    """A reader whose sessions begin once more is known than their first record contains.

    A session of which only that record was written begins with it.
    """

    _opening: Any = None  # The first record and its place, until the session begins.

    def finish(self) -> list[events.Event]:
        """Return the beginning, if it is still open, and what else is."""
        self.out = []
        if self._opening is not None:
            self._open(None)
        return self.out + super().finish()

    @abstractmethod
    def _open(self, first: float | None) -> None:
        """Begin the session at the time of its next record, if there is one."""


def left_untold(**present: Any) -> tuple[events.Matter, ...]:
    """Return which of the named matters a log does not contain."""
    return tuple(matter for matter in events.MATTERS if not present.get(matter, True))


def add(event: events.Event | None, out: list[events.Event]) -> None:
    """Add an event if there is one."""
    if event is not None:
        out.append(event)


def holds_table(name: str, columns: set[str], *others: str) -> Callable[[Sample], int]:
    """Return a check for a database with these tables, the first of them with these columns."""

    def sniff(sample: Sample) -> int:
        if not sample.head.startswith(MAGIC) or not {name, *others} <= tables(sample.path):
            return 0
        try:
            with reading(sample.path) as database:
                present = {str(column[1]) for column in database.execute(f"PRAGMA table_info({name})")}
        except OSError:
            return 0
        return 95 if columns <= present else 0

    return sniff


def sidecar(file: str, name: str) -> dict[str, Any]:
    """Return the object in a file beside a log; an empty one if there is none."""
    path = Path(file).with_name(name)
    return table(read_document(path)) if file and is_file(path) else {}


def read_document(path: Path) -> Any:
    """Return the JSON value in a file; None if it cannot be read."""
    try:
        return decode(read_log(path))
    except OSError:
        return None


_EXIT_TEXT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: exit)? (?:code|status)|return ?code)[: ]*(-?\d{1,9})", re.IGNORECASE
)
_FAILED = re.compile(r"\s*(?:ERROR\b|Error:|Error executing|Traceback \(most recent call last\))")
_STREAMS = frozenset(("output", "stdout", "content"))
_CODES = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")


def read_result(value: Any, *, error: bool = False, rejected: bool = False, guess: bool = False) -> Result:
    """Return the facts of a result: fields of an object or of JSON in a text, else its text.

    With `guess`, for a log without a flag of its own, the text's exit code or error words decide.
    """
    opened = value
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        opened = decode(value)
    facts = table(opened)
    exited = next((number for key in _CODES if (number := _exit(facts.get(key))) is not None), None)
    output = next((one for key in ("output", "stdout") if (one := text(facts.get(key)))), "") or words(value)
    if facts and not output and not _STREAMS & facts.keys():
        output = msgspec.json.encode(facts).decode()
    wrong = facts.get("success") is False or bool(facts.get("error")) or facts.get("timed_out") is True
    if guess and not facts and exited is None:
        codes = _EXIT_TEXT.findall(output[-400:])
        exited = int(codes[-1]) if codes else None
        wrong = exited is None and bool(_FAILED.match(output[:200]))
    return Result(text=output, error=error or wrong, exit_code=exited, rejected=rejected)


def _exit(value: Any) -> int | None:
    """Return an exit code, also from a text such as `exit status: 1`."""
    return code(value.rpartition(" ")[2]) if isinstance(value, str) else code(value)
