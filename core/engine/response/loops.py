"""Loop detection: seven detectors, each chosen on labelled runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, get_args

from core.engine import state
from core.engine.values import Value
from core.events import Event, Prompt, ToolUse, Turn
from core.settings import response

# The plainest first: if several are active, the first one names the loop.
DETECTORS: tuple[response.DetectorName, ...] = get_args(response.DetectorName)
_OF_ONE_TOOL = frozenset(("repeat", "retest"))  # Their loops differ by tool; any other loop goes on with another tool.
_CHECKS = frozenset(("test", "build", "commit"))  # Purposes of calls that end a loop if they pass.
_PASSED = frozenset(("success", "empty"))
_WITHOUT_OUTCOME = frozenset(("pending", "collateral"))
_LONGEST_ROUND = 6
_FEWEST = 2  # A limit below this is not a repetition.
_NEVER = 1 << 30  # The limit of a tool whose loops are ignored.
_ANNOUNCED = 32  # How many announced loops are remembered.
_NO_LIMITS: dict[response.DetectorName, int] = {}


class Loop(NamedTuple):
    """One loop, in words for the person."""

    detector: response.DetectorName
    period: int  # Calls in one round; 0 if it has no rounds.
    # Rounds, failures, edits or calls, depending on the detector.
    count: int  # type: ignore[assignment]
    tool: str  # The program or tool concerned.
    what: str
    intensity: float  # One half at the limit, three quarters at twice the limit, never 1.
    began_at: float


class DetectorReading(Value, frozen=True):
    """How far one detector is from its limit."""

    name: response.DetectorName
    enabled: bool
    count: int
    limit: int


class LoopReading(Value, frozen=True):
    """All detectors, for the screen."""

    current: Loop | None
    alarms: int
    detectors: tuple[DetectorReading, ...]


def intensity(value: float, limit: float) -> float:
    """Rise from one half at the limit towards 1."""
    return 1.0 - 0.5 * limit / value if value > limit else 0.5


def subject_of(event: ToolUse) -> str:
    """Name a call in a sentence: the program, or the tool and its file."""
    if event.program or not event.targets:
        return event.program or event.tool or "a call"
    return f"{event.tool} on {_file_name(event.targets[0])}"


def _file_name(path: str) -> str:
    return path.rpartition("/")[2] or path


def _is_passed_check(event: ToolUse) -> bool:
    return event.purpose in _CHECKS and event.outcome in _PASSED


def _is_good_edit(event: ToolUse) -> bool:
    return event.action == "file_edit" and event.outcome == "success"


class Detector(state.Stateful):
    """Count towards a limit; subclasses decide what counts and what starts the count again.

    A detector counts one thing and is active while that count is at or above its limit. It ends when its own
    condition ends: a check or commit passes, something new is edited, the turn ends, or the person writes.
    """

    STATE: ClassVar[Sequence[str | state.KeptField]] = ("count", "limit", "began_at", "subject", "tool")
    TABLES: ClassVar[tuple[str, ...]] = ()  # What grows, up to `_size` entries.
    _size = 0
    period = 0

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.patience = 0  # Repetitions allowed beyond the limit, or fewer if negative.
        self.reset()

    def reset(self) -> None:
        """Start again from nothing."""
        self.count = 0
        self.limit = self._limit
        self.began_at = 0.0
        self.subject = ""
        self.tool = ""

    @property
    def active(self) -> bool:
        """Whether the count is at its limit now."""
        return self.count >= self.limit

    def update(self, event: ToolUse, tool_limit: int) -> None:
        """Update the count with one call; `tool_limit` is the limit of its tool, or -1."""
        raise NotImplementedError

    def describe(self) -> str:
        """Say what is going on, as a fact."""
        raise NotImplementedError

    def _count(self, event: ToolUse, tool_limit: int) -> None:
        if not self.count:
            self.began_at = event.at
        self.count += 1
        self.subject = subject_of(event)
        self.tool = event.program or event.tool
        self._set_limit(tool_limit)

    def _remember(self, table: dict[Any, Any], key: Any, value: Any = None) -> None:
        if len(table) >= self._size:
            del table[next(iter(table))]
        table[key] = value

    def _set_limit(self, tool_limit: int) -> None:
        if tool_limit > 0:
            self.limit = tool_limit
        else:
            self.limit = max(_FEWEST, self._limit + self.patience) if tool_limit else _NEVER

    def restored(self) -> None:
        """Measure what has not begun by these settings, and keep no more than they allow."""
        if not self.count:
            self.limit = self._limit
        for table in [getattr(self, name) for name in self.TABLES]:
            for key in list(table)[: max(0, len(table) - self._size)]:
                del table[key]


Key = tuple[int, int]  # A call and its result.


class Repeat(Detector):
    """A call, or a round of calls, repeated with equal results."""

    STATE = (
        *Detector.STATE, state.each("_keys", tuple, lambda row: (row[0], row[1])), state.queued("_times"),
        state.plain_list("_runs"), state.plain_list("_began"), "period", "failed",
    )  # fmt: skip

    def __init__(self, settings: response.RepeatSettings) -> None:
        self._rounds = settings.rounds
        self._longest = settings.longest
        self._keys: deque[Key] = deque(maxlen=_LONGEST_ROUND)
        self._times: deque[float] = deque(maxlen=_LONGEST_ROUND)
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget every call."""
        super().reset()
        self._keys.clear()
        self._times.clear()
        self._runs = [0] * _LONGEST_ROUND  # For each period, how many calls in a row equal the call one period earlier.
        self._began = [0.0] * _LONGEST_ROUND
        self.period = 0
        self.failed = False

    @property
    def active(self) -> bool:
        """Whether a round repeats now."""
        return self.period > 0

    def update(self, event: ToolUse, tool_limit: int) -> None:
        """Compare one call with the six before it."""
        key = (event.call, event.result)
        runs = self._runs
        self.period = 0
        if key not in self._keys:
            self._runs = [0] * _LONGEST_ROUND
            self.count = 1
        else:
            for place, earlier in enumerate(self._keys):
                if earlier != key:
                    runs[place] = 0
                    continue
                if not runs[place]:
                    self._began[place] = self._times[place]
                runs[place] += 1
            if event.result or event.outcome == "failure":
                self._judge(event, tool_limit)
            if not self.period:
                self.count = max([run // place + 1 for place, run in enumerate(runs, 1)])
        self._keys.appendleft(key)
        self._times.appendleft(event.at)

    def _judge(self, event: ToolUse, tool_limit: int) -> None:
        longest = 0
        for period in range(1, self._longest + 1):
            run = self._runs[period - 1]
            if run <= longest:
                continue
            longest = run
            self._set_limit(tool_limit)
            if period > 1 and tool_limit < 0:
                self.limit = self._rounds
            if run >= period * (self.limit - 1):
                self.period = period
                self.count = run // period + 1
                self.began_at = self._began[period - 1]
                self.subject = subject_of(event)
                self.tool = event.program or event.tool
                self.failed = event.outcome == "failure"
                return

    def describe(self) -> str:
        """Say which calls repeat, and how often."""
        if self.period > 1:
            return f"the same {self.period} calls {self.count} times, last {self.subject}"
        how = "failed the same way" if self.failed else "gave the same result"
        return f"{self.subject} {how} {self.count} times"


class Failing(Detector):
    """Calls that fail, with no edit and no check that went well in between."""

    STATE = (*Detector.STATE, "_quiet")

    def __init__(self, settings: response.FailingSettings) -> None:
        self._linger = settings.linger
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget the failures."""
        super().reset()
        self._quiet = 0  # Calls since the last failure.

    def update(self, event: ToolUse, tool_limit: int) -> None:
        """Count a failure; a good edit, a passed check or a stretch without failures starts again."""
        if event.outcome == "failure":
            self._quiet = 0
            self._count(event, tool_limit)
        elif self.count and event.outcome != "rejected":
            self._quiet += 1
            if self._quiet >= self._linger or _is_good_edit(event) or _is_passed_check(event):
                self.reset()

    def describe(self) -> str:
        """Say how many calls failed."""
        return f"{self.count} calls failed without a successful edit or check, last {self.subject}"


class Retest(Detector):
    """A command that fails again although something was edited in between."""

    STATE = (*Detector.STATE, state.tabled("_commands", 5), "_edits", "between", "same_error")

    TABLES = ("_commands",)

    def __init__(self, settings: response.RetestSettings) -> None:
        self._size = settings.kept
        # By shape: failures, edits before the first and the last, last result, whether all were alike.
        self._commands: dict[int, tuple[int, int, int, int, int]] = {}
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget every command."""
        super().reset()
        self._commands.clear()
        self._edits = 0
        self.between = 0
        self.same_error = True

    def update(self, event: ToolUse, tool_limit: int) -> None:
        """Count a failure if a good edit came since the failure before it."""
        if event.action == "file_edit":
            self._edits += event.outcome == "success"
            return
        if event.action != "shell_exec":
            return
        shape = event.shape or event.call
        command = self._commands.pop(shape, None)
        if event.outcome != "failure":
            if command is not None or _is_passed_check(event):
                self.reset()
            return
        if command is None:
            command = (1, self._edits, self._edits, event.result, 1)
        elif self._edits > command[2]:
            alike = command[4] * (event.result == command[3])
            command = (command[0] + 1, command[1], self._edits, event.result, alike)
        self._remember(self._commands, shape, command)
        if command[0] >= self.count:
            self._count(event, tool_limit)
            self.count, self.between, self.same_error = command[0], command[2] - command[1], bool(command[4])

    def describe(self) -> str:
        """Say which command keeps failing."""
        error = ", same error" if self.same_error else ""
        return f"{self.subject} failed {self.count} times, {self.between} edits between{error}"


class Rework(Detector):
    """Files edited again and again while calls fail and no check passes."""

    STATE = (*Detector.STATE, state.keyed("_files"), "_failures", "_settled")

    def __init__(self, settings: response.ReworkSettings) -> None:
        self._size = settings.kept
        self._needed = settings.failures
        self._files: dict[str, None] = {}
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget every file."""
        super().reset()
        self._files.clear()
        self._failures = 0
        self._settled = 0  # Failures when a file was last edited for the first time: it is trying something new.

    @property
    def active(self) -> bool:
        """Whether edits repeat and it failed since it last tried something new."""
        return self.count >= self.limit and self._failures >= self._needed and self._failures > self._settled

    def update(self, event: ToolUse, tool_limit: int) -> None:
        """Count an edit of a file that was edited before; a passed check starts again."""
        if event.outcome == "failure":
            self._failures += 1
        elif _is_good_edit(event) and event.targets:
            path = event.targets[0]
            if path in self._files:
                self._count(event, tool_limit)
                return
            if self.active:
                self._settled = self._failures
            self._remember(self._files, path)
        elif _is_passed_check(event):
            self.reset()

    def describe(self) -> str:
        """Say how often files were edited again."""
        return f"{self._failures} failures and {self.count} re-edits without a check that passed"


class NoProgress(Detector):
    """A long stretch of calls, some of which fail, that edits no other file and passes no check."""

    STATE = (*Detector.STATE, state.keyed("_files"), "_troubles")

    TABLES = ("_files",)

    def __init__(self, settings: response.NoProgressSettings) -> None:
        self._size = settings.kept
        self._needed = settings.troubles
        self._files: dict[str, None] = {}
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget every file."""
        super().reset()
        self._files.clear()
        self._troubles = 0  # Failures, and edits of files edited before.

    @property
    def active(self) -> bool:
        """Whether the stretch is long and was not only reading."""
        return self.count >= self.limit and self._troubles >= self._needed

    def update(self, event: ToolUse, tool_limit: int) -> None:
        """Count a call once a file was edited; another file or a passed check starts again."""
        path = event.targets[0] if event.targets and _is_good_edit(event) else ""
        if _is_passed_check(event):
            self.reset()
        elif path and path not in self._files:
            super().reset()
            self._troubles = 0
            self._remember(self._files, path)
        elif self._files:
            self._troubles += bool(path) or event.outcome == "failure"
            self._count(event, tool_limit)

    def describe(self) -> str:
        """Say how long nothing moved."""
        return f"{self.count} calls since another file was edited or a check passed"


Edit = tuple[tuple[str, ...], int, int]  # Files, the text removed, the text inserted.


class Oscillation(Detector):
    """Edits that undo one another.

    A whole-file write removes what the last write to that file inserted. An edit that succeeds twice was
    undone out of sight.
    """

    STATE = (
        *Detector.STATE,
        state.custom(
            "_edits",
            lambda edits: tuple([(*edit, *value) for edit, value in edits.items()]),
            lambda rows: {(tuple(files), old, new): (flips, at) for files, old, new, flips, at in rows},
        ),
        state.custom(
            "_written", lambda texts: tuple(texts.items()), lambda rows: {tuple(row[0]): row[1] for row in rows}
        ),
        "_quiet",
    )

    TABLES = ("_edits", "_written")

    def __init__(self, settings: response.OscillationSettings) -> None:
        self._size = settings.kept
        self._linger = settings.linger
        self._edits: dict[Edit, tuple[int, float]] = {}
        self._written: dict[tuple[str, ...], int] = {}
        super().__init__(settings.flips)

    def reset(self) -> None:
        """Forget every edit."""
        super().reset()
        self._edits.clear()
        self._written.clear()
        self._quiet = 0  # Calls since the last flip.

    def update(self, event: ToolUse, tool_limit: int) -> None:
        """Look up whether an edit reverses or repeats an earlier one."""
        self._quiet += 1
        if self.count and (self._quiet >= self._linger or _is_passed_check(event)):
            super().reset()
        after = event.after
        if not _is_good_edit(event) or not after or not event.targets:
            return
        before = event.before or self._replace_written(event.targets, after)
        if not before or before == after:
            return
        edits = self._edits
        earlier = edits.pop((event.targets, after, before), None) or edits.pop((event.targets, before, after), None)
        flips, began = (earlier[0] + 1, earlier[1]) if earlier is not None else (0, event.at)
        self._remember(edits, (event.targets, before, after), (flips, began))
        if flips:
            self._count(event, tool_limit)
            self.count, self.began_at, self._quiet = flips, began, 0
            self.subject = _file_name(event.targets[0])

    def _replace_written(self, targets: tuple[str, ...], after: int) -> int:
        before = self._written.pop(targets, 0)
        self._remember(self._written, targets, after)
        return before

    def describe(self) -> str:
        """Say which file goes back and forth."""
        return f"{self.subject} edited back and forth {self.count} times"


class Stalled(Detector):
    """Calls that bring nothing new: no new file, no new result, no new edit, no check with another answer."""

    STATE = (*Detector.STATE, state.byte_queue("_window", bool), state.keyed("_known"), state.mapped("_answers"))

    TABLES = ("_known", "_answers")

    def __init__(self, settings: response.StalledSettings) -> None:
        self._size = settings.kept
        self._window_size = settings.window
        self._window: deque[bool] = deque(maxlen=settings.window)  # Of the last calls, which brought nothing new.
        self._known: dict[int | str, None] = {}  # Results, edits and files seen.
        self._answers: dict[int, int] = {}  # The last answer of each check.
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget the last calls, but not what was seen."""
        super().reset()
        self._window.clear()

    @property
    def active(self) -> bool:
        """Whether most of a full window brought nothing new, and neither did the last call."""
        window = self._window
        return len(window) == self._window_size and window[-1] and self.count >= self.limit

    def update(self, event: ToolUse, tool_limit: int) -> None:
        """Judge whether one call brought something new."""
        news = self._brings_news(event)
        if _is_passed_check(event) and news:
            self.reset()
            return
        if len(self._window) == self._window_size:
            self.count -= self._window[0]
        self._window.append(not news)
        if not news:
            self._count(event, tool_limit)
        if not self.count:
            self.began_at = 0.0

    def _brings_news(self, event: ToolUse) -> bool:
        news = False
        for path in event.targets[:4]:
            news = self._is_new(path) or news
        if event.action == "file_edit":
            return (event.outcome == "success" and self._is_new(event.call)) or news
        if event.purpose in _CHECKS:
            shape, answer = event.shape or event.call, event.result * 2 + (event.outcome == "failure")
            changed = self._answers.pop(shape, None) != answer
            self._remember(self._answers, shape, answer)
            return changed or news
        if event.outcome == "success":
            return not event.result or self._is_new(event.result) or news
        return news

    def _is_new(self, key: int | str) -> bool:
        if key in self._known:
            return False
        self._remember(self._known, key)
        return True

    def describe(self) -> str:
        """Say how many of the last calls brought nothing."""
        return f"{self.count} of the last {self._window_size} calls brought nothing new"


class LoopDetector(state.Stateful):
    """Announce a loop once, and again when it got notably worse.

    Waiting, plans and calls without an outcome are ignored. The end of a turn and the person's prompt end
    every loop.
    """

    NAMED = True
    STATE = (state.through("parts", "_load_parts"), "_active", state.tabled("_announced", 2), "_times", "_prompt")

    def __init__(self, settings: response.LoopSettings, final: frozenset[str] = frozenset()) -> None:
        all_parts: tuple[tuple[response.DetectorName, bool, Detector], ...] = (
            ("repeat", settings.repeat.enabled, Repeat(settings.repeat)),
            ("failing", settings.failing.enabled, Failing(settings.failing)),
            ("oscillation", settings.oscillation.enabled, Oscillation(settings.oscillation)),
            ("retest", settings.retest.enabled, Retest(settings.retest)),
            ("rework", settings.rework.enabled, Rework(settings.rework)),
            ("stalled", settings.stalled.enabled, Stalled(settings.stalled)),
            ("no_progress", settings.no_progress.enabled, NoProgress(settings.no_progress)),
        )
        self._parts = {name: part for name, enabled, part in all_parts if enabled}
        self._patience = 0
        self._final = final
        self._growth = settings.growth
        self._cooldown = settings.cooldown
        self._tools: dict[str, dict[response.DetectorName, int]] = dict(settings.tools)
        self._active: response.DetectorName | None = None
        self._announced: dict[str, tuple[int, float]] = {}  # Count and time, by detector and tool.
        self._times = 0
        self._prompt = 0

    def update(self, event: Event, patience: int = 0) -> Loop | None:
        """Return a loop if this event starts it or makes it notably worse.

        `patience` is how many more repetitions than usual are allowed, or fewer if negative; it never makes
        failures a loop sooner, because their limit was measured.
        """
        if patience != self._patience:
            self._patience = patience
            if "repeat" in self._parts:
                self._parts["repeat"].patience = patience
            if "failing" in self._parts:
                self._parts["failing"].patience = max(0, patience)
        if type(event) is ToolUse:
            if event.outcome in _WITHOUT_OUTCOME or event.action == "plan" or event.purpose == "wait":
                return None
            tools = self._tools
            limits = (tools.get(event.program) or tools.get(event.tool, _NO_LIMITS)) if tools else _NO_LIMITS
            for name, part in self._parts.items():
                part.update(event, limits.get(name, -1) if limits else -1)
            return self._announce(event.at)
        if type(event) is Turn:
            if event.stop in self._final:
                self._end()
        elif type(event) is Prompt and not (event.call and event.call == self._prompt):
            # The same words again come from a program, not from the person.
            self._prompt = event.call
            self._end()
        return None

    def _end(self) -> None:
        self._active = None
        for part in self._parts.values():
            part.reset()

    def _announce(self, at: float) -> Loop | None:
        active = [name for name, part in self._parts.items() if part.active]
        if not active:
            self._active = None
            return None
        name = self._active if self._active in active else active[0]
        resumed = name != self._active
        self._active = name
        part = self._parts[name]
        key = f"{name} {part.tool}" if name in _OF_ONE_TOOL else name
        earlier = self._announced.get(key)
        if earlier is not None:
            if part.count < self._growth * earlier[0] and not (resumed and at - earlier[1] >= self._cooldown):
                return None
            del self._announced[key]
        elif len(self._announced) >= _ANNOUNCED:
            del self._announced[next(iter(self._announced))]
        self._announced[key] = (part.count, at)
        self._times += 1
        return self.current

    @property
    def current(self) -> Loop | None:
        """Return the loop that is active now."""
        if self._active is None:
            return None
        part = self._parts[self._active]
        strength = intensity(part.count, part.limit)
        return Loop(self._active, part.period, part.count, part.tool, part.describe(), strength, part.began_at)

    def read(self) -> LoopReading:
        """Return every detector's count and limit."""
        readings = []
        for name in DETECTORS:
            part = self._parts.get(name)
            count, limit = (part.count, part.limit) if part is not None else (0, 0)
            readings.append(DetectorReading(name=name, enabled=part is not None, count=count, limit=limit))
        return LoopReading(current=self.current, alarms=self._times, detectors=tuple(readings))

    @property
    def parts(self) -> dict[str, Any]:
        """Dump each detector that is on."""
        return {name: part.dump() for name, part in self._parts.items()}

    def _load_parts(self, states: Mapping[str, Any]) -> None:
        """Load each detector; a detector that was switched on since then starts empty."""
        for name, part in self._parts.items():
            if name in states:
                part.load(states[name])

    def restored(self) -> None:
        """End a loop whose detector is off."""
        if self._active not in self._parts:
            self._active = None
