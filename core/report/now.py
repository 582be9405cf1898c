"""The present of a session at one place, in the log's own words: you, now, failed, agent."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from core.agents.words import NOTHING, WordReader, Words, first_line, telling_line, words_of
from core.events import MAIN, AgentStart, Event, Prompt, ToolUse, Turn
from core.logs.glimpse import BARE_COMMAND
from core.report.event_words import mode_words, tool_words
from core.report.formatting import last_words, span, times
from core.report.rollbacks import Rollbacks
from core.report.story import attempt_key
from core.report.turn_endings import important_sentence
from core.safe_text import safe

LATELY = 20  # Calls among which failures are counted.
_LINE = 400  # Characters of a line that is handed out at most.
_FIRST_PROMPTS = 5  # Prompts among which a title is looked for.
_REMEMBERED = 256
_AHEAD = 8  # Calls looked through for one that was at work.
_BREAK = " ⏎ "  # Shown between lines that share a row.
_LOOKED_BACK = 8  # Answers looked through for one with words.


class Now(Struct, frozen=True):
    """The first things a person wants to know; empty if the log does not say."""

    asked: str = ""  # The first line of the last prompt.
    asked_at: float = 0.0
    characters: int = 0  # How long that prompt is.
    tool: str = ""  # The tool at work, or the last that was.
    doing: str = ""  # Its whole command, or the path it works on.
    doing_at: float = 0.0
    running: bool = False  # It has no result yet.
    rejected: bool = False  # It was not let through.
    failed: str = ""  # What failed last: its command.
    failed_tool: str = ""
    error: str = ""  # The line of its output that says why.
    failed_at: float = 0.0
    times: int = 0  # How often the same call failed since the last prompt.
    said: str = ""  # The end of what the agent said last.
    said_at: float = 0.0
    failures: int = 0  # Failed calls among the last ones.
    calls: int = 0  # How many those are.
    mode: str = ""  # What it may do without asking, if that is unusual.


class Landmarks:
    """Where in a recording an agent was asked, worked, failed and spoke; found by bisection."""

    __slots__ = ("_asked", "_calls", "_events", "_failures", "_prompts", "_rollbacks", "_seen", "_turns", "agent")

    def __init__(self, events: Sequence[Event], agent: str = MAIN) -> None:
        self._events = events
        self.agent = agent
        self._seen = 0
        self._prompts: list[int] = []  # Where another prompt began to count, and where that one is; -1 for none.
        self._asked: list[int] = []
        self._rollbacks = Rollbacks(agent)
        self._calls: list[int] = []
        self._failures: list[int] = []
        self._turns: list[int] = []
        self.grow()

    def grow(self) -> None:
        """Take in what the recording took in since."""
        events, agent = self._events, self.agent
        for place in range(self._seen, len(events)):
            event = events[place]
            if self._rollbacks.step(event):
                self._prompt_counts(place, self._rollbacks.standing[-1][0] if self._rollbacks.standing else -1)
            if event.agent == agent:
                self._add(place, event)
            elif agent != MAIN and type(event) is AgentStart and event.child == agent:
                self._prompt_counts(place, place)
        self._seen = len(events)

    def _add(self, place: int, event: Event) -> None:
        kind = type(event)
        if kind is ToolUse:
            self._calls.append(place)
            if event.outcome == "failure":  # type: ignore[union-attr]
                self._failures.append(place)
        elif kind is Turn:
            self._turns.append(place)
        elif kind is Prompt and not event.interrupt:  # type: ignore[union-attr]
            self._prompt_counts(place, place)

    def _prompt_counts(self, place: int, asked: int) -> None:
        self._prompts.append(place)
        self._asked.append(asked)

    def prompt(self, index: int) -> Prompt | AgentStart | None:
        """The last prompt that counts after the first `index` events; of a sub-agent, what it was started with."""
        prompts = bisect_right(self._prompts, index - 1)
        asked = self._asked[prompts - 1] if prompts else -1
        last = self._events[asked] if asked >= 0 else None
        return last if isinstance(last, Prompt | AgentStart) else None

    def mode(self, index: int) -> str:
        """Return what the agent may do without asking after the first `index` events, in its own word."""
        said = [one for one in (*self.turns(index), self.prompt(index)) if isinstance(one, Prompt | Turn) and one.mode]
        return max(said, key=lambda one: one.at).mode if said else ""

    def call(self, index: int) -> ToolUse | None:
        """Return the last call; calls that a log's end brings without an answer may be older than others."""
        last: ToolUse | None = None
        for number in range(bisect_right(self._calls, index - 1) - 1, -1, -1):
            call = self._events[self._calls[number]]
            if not isinstance(call, ToolUse):
                break
            if last is None or call.at > last.at:
                last = call
            if call.outcome != "pending":
                break
        return last

    def open_call(self, index: int, at: float) -> ToolUse | None:
        """The last call that was made by a moment and answered only after the first `index` events."""
        first = bisect_right(self._calls, index - 1)
        coming = (self._events[place] for place in self._calls[first : first + _AHEAD])
        timed = ((call, call.duration) for call in coming if isinstance(call, ToolUse))
        begun_calls = [call for call, duration in timed if duration is not None and call.at - duration <= at]
        return begun_calls[-1] if begun_calls else None

    def failure(self, index: int, read: Callable[[Event], Words] | None = None) -> tuple[ToolUse | None, int]:
        """The last failure since the last prompt that nothing solved since, and how often that call failed.

        The same try that succeeds solves it, a test or build that passes, and a commit.
        By the words of calls, tries of one Git command are known.
        """
        begin = bisect_right(self._prompts, index - 1)
        since = self._prompts[begin - 1] if begin else -1
        end = bisect_right(self._calls, index - 1)
        solved: set[Hashable] = set()
        for place in reversed(self._calls[max(0, end - LATELY) : end]):
            event = self._events[place]
            if place < since or not isinstance(event, ToolUse):
                break
            if event.outcome in ("success", "empty"):
                if event.purpose == "commit":
                    break
                solved.update(_tries(event, read))
            elif event.outcome == "failure" and not solved & _tries(event, read):
                first = bisect_right(self._failures, since - 1)
                failures = (self._events[each] for each in self._failures[first : bisect_right(self._failures, place)])
                return event, sum(isinstance(one, ToolUse) and one.shape == event.shape for one in failures)
        return None, 0

    def turns(self, index: int) -> list[Turn]:
        """The last answers, the newest first."""
        end = bisect_right(self._turns, index - 1)
        recent = [self._events[place] for place in self._turns[max(0, end - _LOOKED_BACK) : end]]
        return [turn for turn in reversed(recent) if isinstance(turn, Turn)]

    def lately(self, index: int) -> tuple[int, int]:
        """Failures among the last calls, and how many those are."""
        end = bisect_right(self._calls, index - 1)
        recent = self._calls[max(0, end - LATELY) : end]
        if not recent:
            return 0, 0
        first = bisect_right(self._failures, recent[0] - 1)
        return bisect_right(self._failures, index - 1) - first, len(recent)


def _tries(call: ToolUse, read: Callable[[Event], Words] | None) -> set[Hashable]:
    """Return what a call is an attempt at: the same command or file, any test or build, or one Git command."""
    same: set[Hashable] = {attempt_key(call, read)} if call.shape or call.call or call.targets else set()
    return same | {call.purpose} if call.purpose else same


class Teller:
    """Puts landmarks into words, which are read from the log once and remembered for a while."""

    def __init__(self, read: Callable[[Event], Words] = words_of, *, names: bool = True) -> None:
        self._read = read
        self._names = names  # A call without words is told by its paths or its program.
        self._known: OrderedDict[int, tuple[Event, Words]] = OrderedDict()

    def now(self, marks: Landmarks, index: int, pending: Sequence[Event] = (), at: float | None = None) -> Now:
        """Return the present after the first `index` events; `pending` is what the log has not ended yet.

        Pending calls with an outcome were ended by their hooks. If there are none, a call that the recording
        answers only after the moment `at` is running.
        """
        prompt = marks.prompt(index)
        calls_held = [call for call in pending if isinstance(call, ToolUse) and call.agent == marks.agent]
        ended = [call for call in calls_held if call.outcome != "pending"]
        running = [call for call in calls_held if call.outcome == "pending"]
        if not calls_held and at is not None and (coming := marks.open_call(index, at)) is not None:
            running = [coming]
        call = running[-1] if running else _later(marks.call(index), ended)
        began = (call.duration or 0.0) if call and running and call.outcome != "pending" else 0.0
        failure, times = marks.failure(index, self._words)
        latest = _later(failure, [one for one in ended if one.outcome == "failure"])
        if latest is not failure:
            failure, times = latest, 1
        failures, calls = marks.lately(index)
        open_turns = [turn for turn in pending if isinstance(turn, Turn) and turn.agent == marks.agent]
        text, spoke = self._last_answer([*reversed(open_turns), *marks.turns(index)])
        return Now(
            asked=_line(self._words(prompt).said) if prompt else "",
            asked_at=prompt.at if prompt else 0.0,
            characters=prompt.characters if isinstance(prompt, Prompt) else 0,
            tool=tool_words(call.tool) if call else "",
            doing=self._doing(call) if call else "",
            doing_at=call.at - began if call else 0.0,
            running=bool(running),
            rejected=call is not None and not running and call.outcome == "rejected",
            failed=self._doing(failure) if failure else "",
            failed_tool=tool_words(failure.tool) if failure else "",
            error=_line(telling_line(self._words(failure).output)) if failure else "",
            failed_at=failure.at if failure else 0.0,
            times=times,
            said=text,
            said_at=spoke,
            failures=failures,
            calls=calls,
            mode=mode_words(open_turns[-1].mode if open_turns and open_turns[-1].mode else marks.mode(index)),
        )

    def _doing(self, call: ToolUse) -> str:
        paths = safe(" ".join(call.targets[:3])) if self._names else ""
        if paths and not call.program and call.action in ("file_read", "file_edit"):
            return paths
        return one_row(self._words(call).command) or paths or (safe(call.program) if self._names else "")

    def _last_answer(self, turns: Sequence[Turn]) -> tuple[str, float]:
        for turn in turns:
            words = self._words(turn).said
            if words and turn.stop == "error":
                return _line(words), turn.at
            if words:
                return safe(important_sentence(words) or last_words(words))[:_LINE], turn.at
        return "", 0.0

    def line(self, event: Event) -> str:
        """The first line of what somebody said."""
        return _line(self._words(event).said)

    def forget(self) -> None:
        """Read all words again."""
        self._known.clear()

    def _words(self, event: Event) -> Words:
        key = id(event)
        cached = self._known.get(key)
        if cached is not None and cached[0] is event:
            self._known.move_to_end(key)
            return cached[1]
        words = self._read(event)
        self._known[key] = (event, words)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return words


def _later(logged: ToolUse | None, ended: Sequence[ToolUse]) -> ToolUse | None:
    """Return the latest of some calls that no call in the log followed."""
    return ended[-1] if ended and (logged is None or ended[-1].at > logged.at) else logged


class NowReader:
    """Reads the present at any place of a recording, in words from the session's own logs."""

    def __init__(self) -> None:
        self._reader = WordReader(())
        self._teller = Teller(self._reader.words)
        self._silent = Teller(lambda _: NOTHING, names=False)
        self._marks: Landmarks | None = None
        self._of: Sequence[Event] = ()

    def allow(self, logs: Sequence[Path]) -> None:
        """Let words be read from these logs."""
        if logs != self._reader.logs:
            self._reader.logs = logs
            self._teller.forget()

    def now(
        self,
        events: Sequence[Event],
        index: int,
        at: float,
        agent: str = MAIN,
        pending: Sequence[Event] = (),
        *,
        words: bool = True,
    ) -> Now:
        """After the first `index` events, at a moment; without `words` nothing is read."""
        if self._marks is None or self._of is not events or self._marks.agent != agent:
            self._marks, self._of = Landmarks(events, agent), events
        self._marks.grow()
        return (self._teller if words else self._silent).now(self._marks, index, pending, at)

    def title(self, events: Sequence[Event]) -> str:
        """Return the person's first request, in a line."""
        title = ""
        prompts = (event for event in events if isinstance(event, Prompt) and not event.interrupt)
        for prompt in islice(prompts, _FIRST_PROMPTS):
            line = self._teller.line(prompt)
            title = title or line
            if line and not BARE_COMMAND.fullmatch(line):
                return line
        return title


def one_row(words: str) -> str:
    """All lines in one, the breaks between them shown."""
    return _BREAK.join(safe(line.strip()) for line in words.splitlines() if line.strip())[:_LINE]


def first_row(words: str) -> str:
    """The first line of a question, a plan or a command, without the mark of a heading."""
    return one_row(words).partition(_BREAK)[0].lstrip("# ")


def now_lines(now: Now, at: float) -> list[str]:
    """Say what is happening, one line per known thing; `at` is the moment of looking."""
    lines = []
    if now.asked:
        lines.append(f"you     “{now.asked}”, {span(max(0.0, at - now.asked_at))} before")
    if now.mode:
        lines.append(f"mode    {now.mode}")
    if now.tool:
        what = f"{now.tool} {now.doing}".rstrip() + (", rejected" if now.rejected else "")
        lines.append(f"{'now' if now.running else 'last':<8}{what}")
    if now.failed:
        why = f": {now.error}" if now.error else ""
        lines.append(f"failed  {now.failed}, {times(now.times)}{why}")
    if now.said:
        lines.append(f"agent   “{now.said}”")
    if now.failures:
        lines.append(f"        {lately_failed(now)}")
    return lines


def lately_failed(now: Now) -> str:
    """Say how many of the last calls failed; empty if none did."""
    if now.failures and now.calls == 1:
        return "its only call failed"
    return f"{now.failures} of the last {now.calls} calls failed" if now.failures else ""


def _line(words: str) -> str:
    return " ".join(safe(first_line(words)).split())[:_LINE]
