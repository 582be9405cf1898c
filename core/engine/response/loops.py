"""All loop detectors of one agent, and when a loop is worth telling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, get_args

from core.engine.response.loop_cycles import Cycle, Failing, Key, Oscillation
from core.engine.response.loop_stalls import Burn, Churn, GaveUp, Reread, Retest, Rework, Storm, Waiting
from core.engine.state import Stateful, made, through
from core.engine.values import Value
from core.events import AgentEnd, Event, Prompt, ToolUse, Turn
from core.settings.loops import DetectorName, LoopSettings


class Loop(NamedTuple):
    """An agent going round in circles."""

    detector: DetectorName
    period: int
    """Calls in one round; 0 where rounds mean nothing."""
    count: int  # type: ignore[assignment]
    """Rounds, failures, flips, or answers without progress."""
    tool: str
    """The program or tool concerned."""
    what: str
    intensity: float
    """One half when recognised, three quarters at twice that, never 1."""
    began_at: float


class DetectorReading(Value, frozen=True):
    """How far one detector is from telling."""

    name: DetectorName
    enabled: bool
    count: int
    limit: int


class LoopReading(Value, frozen=True):
    """What the screen shows of loops."""

    current: Loop | None
    told: int
    detectors: tuple[DetectorReading, ...]


def intensity(value: float, limit: float) -> float:
    """How bad it is: rises from one half at the limit towards 1."""
    return 1.0 - 0.5 * limit / value if value > limit else 0.5


class Parts(Protocol):
    """The detectors of one agent; None where one is switched off."""

    exact: Cycle | None
    near: Cycle | None
    failing: Failing | None
    oscillation: Oscillation | None
    burn: Burn | None
    retest: Retest | None
    rework: Rework | None
    churn: Churn | None
    storm: Storm | None
    reread: Reread | None
    waiting: Waiting | None
    gave_up: GaveUp | None


def told_of(parts: Parts, name: DetectorName) -> Loop:
    """The loop that one detector sees."""
    if name == "burn" and parts.burn is not None:
        return _burn(parts.burn)
    if name == "failing" and parts.failing is not None:
        return _failing(parts.failing)
    if name == "oscillation" and parts.oscillation is not None:
        return _oscillation(parts.oscillation)
    stall = getattr(parts, name)
    if isinstance(stall, Retest | Rework | Churn | Storm | Reread | Waiting | GaveUp):
        strength = intensity(stall.count, stall.limit)
        return Loop(name, 0, stall.count, stall.tool, stall.what(), strength, stall.began_at)
    cycle = parts.exact if name == "exact" else parts.near
    assert cycle is not None, name  # noqa: S101
    return _cycle(cycle, name)


def _cycle(cycle: Cycle, name: DetectorName) -> Loop:
    count, period = cycle.count, cycle.period
    if period > 1:
        nearly = "nearly the same" if name == "near" else "the same"
        what = f"{nearly} {period} calls {count} times round, at {cycle.subject}"
    elif cycle.failed:
        what = f"{cycle.subject} failed {'again' if name == 'near' else 'the same way'} {count} times"
    else:
        what = f"{cycle.subject} brought the same {count} times"
    strength = intensity(count, cycle.limit)
    return Loop(name, period, count, cycle.tool, what, strength, cycle.began_at)


def _failing(failing: Failing) -> Loop:
    count = failing.count
    how = "failed the same way" if failing.alike else "failed"
    what = f"{failing.subject} {how} {count} times, nothing edited between"
    return Loop("failing", 1, count, failing.tool, what, intensity(count, failing.limit), failing.began_at)


def _oscillation(edits: Oscillation) -> Loop:
    count = edits.count
    what = f"{edits.subject} edited back and forth {count} times"
    return Loop("oscillation", 2, count, edits.tool, what, intensity(count, edits.limit), edits.began_at)


def _burn(burn: Burn) -> Loop:
    what = f"{burn.spent / 1000.0:.0f}k tokens in {burn.turns} answers without progress"
    return Loop("burn", 0, burn.turns, "", what, intensity(burn.spent, burn.limit), burn.began_at)


DETECTORS: tuple[DetectorName, ...] = get_args(DetectorName)
"""The plainest first: where several see the same loop, the first one names it."""
_STALLS: tuple[DetectorName, ...] = ("retest", "rework", "churn", "storm", "reread", "gave_up")
_UNSEEN = frozenset(("pending", "collateral"))
"""Outcomes that say nothing of the call itself."""
_LOOKS = frozenset(("shell_exec", "search", "file_read", "memory_read"))
"""Actions whose near-duplicates are equal when the same comes back; others do something each time."""
_NOWHERE: tuple[str, ...] = ()
_FAILED = -1
_SAID = 32
"""How many told loops are remembered."""
_NO_LIMITS: dict[DetectorName, int] = {}


def _write_announced(said: dict[tuple[DetectorName, str], tuple[int, float]]) -> tuple[tuple[Any, ...], ...]:
    return tuple([(*key, *value) for key, value in said.items()])


def _read_announced(rows: Sequence[Any]) -> dict[tuple[DetectorName, str], tuple[int, float]]:
    return {(name, tool): (count, at) for name, tool, count, at in rows}


class LoopDetector(Stateful):
    """Tell when an agent goes round in circles, once, and again when it got notably worse.

    Waiting, plans and calls without an outcome pass unseen; the person's prompt is a fresh start.
    """

    __slots__ = (
        "_active",
        "_asked",
        "_calm",
        "_cooldown",
        "_edits",
        "_final",
        "_growth",
        "_patience",
        "_patient",
        "_quiet",
        "_said",
        "_stalls",
        "_telling",
        "_told",
        "_tools",
        "burn",
        "churn",
        "exact",
        "failing",
        "gave_up",
        "near",
        "oscillation",
        "reread",
        "retest",
        "rework",
        "storm",
        "waiting",
    )
    NAMED = True
    STATE = (
        through("parts", "_take_parts"),
        "_active",
        made("_said", _write_announced, _read_announced),
        "_told",
        "_asked",
    )

    def __init__(self, settings: LoopSettings, final: frozenset[str] = frozenset()) -> None:
        self.exact = Cycle(settings.exact) if settings.exact.enabled else None
        self.near = Cycle(settings.near) if settings.near.enabled else None
        self.failing = Failing(settings.failing) if settings.failing.enabled else None
        self.oscillation = Oscillation(settings.oscillation) if settings.oscillation.enabled else None
        self.burn = Burn(settings.burn) if settings.burn.enabled else None
        self.retest = Retest(settings.retest) if settings.retest.enabled else None
        self.rework = Rework(settings.rework) if settings.rework.enabled else None
        self.churn = Churn(settings.churn) if settings.churn.enabled else None
        self.storm = Storm(settings.storm) if settings.storm.enabled else None
        self.reread = Reread(settings.reread) if settings.reread.enabled else None
        self.waiting = Waiting(settings.waiting) if settings.waiting.enabled else None
        self.gave_up = GaveUp(settings.gave_up) if settings.gave_up.enabled else None
        self._patient = tuple([part for part in (self.exact, self.near, self.failing) if part is not None])
        self._patience = 0
        stalls = (self.retest, self.rework, self.churn, self.storm, self.reread, self.gave_up)
        named = zip(_STALLS, stalls, strict=True)
        self._stalls = tuple([(name, part) for name, part in named if part is not None])
        """Those that are told by what did not happen."""
        self._quiet = tuple([part for part in (*stalls, self.waiting) if part is not None])
        self._calm = False
        """Whether nothing that calls make went on after the last one; unknown where false."""
        self._final = final
        self._edits = settings.near.edits
        self._telling = settings.near.telling
        self._growth = settings.growth
        self._cooldown = settings.cooldown
        self._tools: dict[str, dict[DetectorName, int]] = dict(settings.tools)
        self._active: DetectorName | None = None
        self._said: dict[tuple[DetectorName, str], tuple[int, float]] = {}
        self._told = 0
        self._asked = 0

    def update(self, event: Event, patience: int = 0) -> Loop | None:
        """Take in one event; a loop where it is recognised, or has grown notably, with this event.

        `patience` is how many more repeats than usual of one call, or failures, are let pass.
        """
        if patience != self._patience:
            self._patience = patience
            for part in self._patient:
                part.patience = patience
        if type(event) is ToolUse:
            if event.outcome in _UNSEEN or event.action == "plan":
                return None
            self._use(event)
            self._calm = self._none_going()
        elif type(event) is Turn:
            if not self._turn(event):
                return None
        else:
            if isinstance(event, Prompt):
                self._prompt(event)
            elif isinstance(event, AgentEnd) and self.burn is not None:
                self.burn.progress(event.at)
            return None
        if self._calm and (self.burn is None or not self.burn.burning):
            self._active = None
            return None
        name = self._going()
        if name is None:
            self._active = None
            return None
        return self._tell(name, event.at)

    def _turn(self, event: Turn) -> bool:
        """Take in an answer; whether any detector heeds it."""
        if self.gave_up is not None and event.stop in self._final:
            self.gave_up.final()
            self._calm = self._calm and not self.gave_up.going
        elif self.burn is None:
            return False
        if self.burn is not None:
            self.burn.turn(event)
        return True

    def _use(self, event: ToolUse) -> None:
        tools = self._tools
        own = (tools.get(event.program) or tools.get(event.tool, _NO_LIMITS)) if tools else _NO_LIMITS
        if self.burn is not None:
            self.burn.use(event, own.get("burn", 1) > 0)
        waits = event.purpose == "wait"
        if self.waiting is not None and (waits or self.waiting.count):
            self.waiting.update(event, own.get("waiting", -1))
        if waits:
            return
        for name, stall in self._stalls:
            stall.update(event, own.get(name, -1) if own else -1)
        failed = event.outcome == "failure"
        result = event.result
        heard = failed or result != 0
        if self.exact is not None:
            self.exact.update((event.call, result, _NOWHERE), event, heard, own.get("exact", -1))
        if self.near is not None:
            usual = self._edits if failed and event.action == "file_edit" else -1
            self.near.update(self._near(event, failed), event, heard, own.get("near", usual))
        if self.failing is not None:
            if failed:
                self.failing.failed(event, own.get("failing", -1))
            else:
                self.failing.went(event)
        if self.oscillation is not None:
            self.oscillation.step()
            if event.action == "file_edit" and event.outcome == "success":
                self.oscillation.update(event, own.get("oscillation", -1))

    def _near(self, event: ToolUse, failed: bool) -> Key:
        """What near-duplicates share: their shape and failing, or their shape, files and what came back."""
        if failed:
            return (event.shape or event.call, _FAILED, _NOWHERE)
        if event.outcome == "success" and event.action in _LOOKS and event.size >= self._telling:
            return (event.shape or event.call, event.result, event.targets)
        return (event.call, event.result, _NOWHERE)

    def _prompt(self, event: Prompt) -> None:
        """A fresh start, unless the same words come again: then a program speaks, not the person."""
        if event.call and event.call == self._asked:
            return
        self._asked = event.call
        for name in DETECTORS:
            part = getattr(self, name)
            if part is not None and name != "burn":
                part.reset()
        if self.burn is not None:
            self.burn.progress(event.at)
        self._active = None

    def _going(self) -> DetectorName | None:
        """The loop that goes on: the one told of while it does, else the plainest."""
        exact = self.exact is not None and self.exact.period > 0
        failing = self.failing is not None and self.failing.shape != 0
        oscillation = self.oscillation is not None and self.oscillation.subject != ""
        near = self.near is not None and self.near.period > 0
        burn = self.burn is not None and self.burn.burning
        stalls = [(part := getattr(self, name)) is not None and part.going for name in _STALLS]
        waiting = self.waiting is not None and self.waiting.going
        going = (exact, failing, oscillation, near, *stalls, burn, waiting)
        if True not in going:
            return None
        active = self._active
        if active is not None and active != "burn" and going[DETECTORS.index(active)]:
            return active
        return DETECTORS[going.index(True)]

    def _none_going(self) -> bool:
        """Whether every detector of calls that is on is quiet, as after most of them."""
        exact, failing, swing, near = self.exact, self.failing, self.oscillation, self.near
        if (
            (exact is not None and exact.period > 0)
            or (failing is not None and failing.shape != 0)
            or (swing is not None and swing.subject != "")
            or (near is not None and near.period > 0)
        ):
            return False
        for part in self._quiet:  # noqa: SIM110 a generator costs more than what it asks
            if part.going:
                return False
        return True

    def _tell(self, name: DetectorName, at: float) -> Loop | None:
        part = getattr(self, name)
        key = (name, part.tool)
        count = part.count
        before = self._said.get(key)
        again = name != self._active
        self._active = name
        if before is not None:
            if count < self._growth * before[0] and not (again and at - before[1] >= self._cooldown):
                return None
            del self._said[key]
        elif len(self._said) >= _SAID:
            del self._said[next(iter(self._said))]
        self._said[key] = (count, at)
        self._told += 1
        return told_of(self, name)

    @property
    def current(self) -> Loop | None:
        """The loop that still goes on."""
        return None if self._active is None else told_of(self, self._active)

    def read(self) -> LoopReading:
        """What the screen shows."""
        return LoopReading(
            current=self.current,
            told=self._told,
            detectors=tuple([self._read(name) for name in DETECTORS]),
        )

    def _read(self, name: DetectorName) -> DetectorReading:
        part = getattr(self, name)
        if part is None:
            return DetectorReading(name=name, enabled=False, count=0, limit=0)
        return DetectorReading(name=name, enabled=True, count=part.count, limit=int(part.limit))

    @property
    def parts(self) -> dict[str, Any]:
        """Each detector that is on, dumped."""
        found = {name: getattr(self, name) for name in DETECTORS}
        return {name: part.dump() for name, part in found.items() if part is not None}

    def _take_parts(self, parts: Mapping[str, Any]) -> None:
        """A detector switched on since starts from nothing."""
        for name in DETECTORS:
            part = getattr(self, name)
            if part is not None and name in parts:
                part.load(parts[name])

    def restored(self) -> None:
        """Nothing goes on by a detector that is off, and what goes on is looked for anew."""
        self._calm = False
        if self._active is not None and getattr(self, self._active) is None:
            self._active = None
