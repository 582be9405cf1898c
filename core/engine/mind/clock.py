"""When the mind ticks: gamma perceives, theta thinks, delta consolidates, all in subjective time."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from core.engine.mind.stimulus import Cause, Stimuli
from core.engine.state import Stateful, grouped, tabled
from core.engine.values import Derived
from core.settings.mind import ClockSettings, TriggerSettings, WakeupSettings


class Trigger(NamedTuple):
    """Fires on a stimulus of one of its causes that is large enough."""

    name: str
    causes: tuple[Cause, ...]
    resolution: Resolution
    least: float
    refire: float
    like: str = "*"  # What the stimulus' words must look like.


class Wakeup(NamedTuple):
    """A trigger that fired."""

    trigger: str
    resolution: Resolution


# The built-in triggers and what sets each off.
CAUSES: dict[str, tuple[Cause, ...]] = {
    "owner_message": ("prompt", "interrupt"),
    "policy_tripwire": ("rejected", "destructive", "halt"),
    "failure_burst": ("streak",),
    "context_full": ("context",),
    "sub_agent_done": ("report",),
    "token_burn": ("burn",),
    "peer_alarm": ("peer",),
    "deadline": ("deadline",),
}


@Derived
def triggers(settings: WakeupSettings) -> tuple[Trigger, ...]:
    """The built-in triggers that are switched on."""
    active = []
    for name, causes in CAUSES.items():
        trigger: TriggerSettings = getattr(settings, name)
        if trigger.on:
            active.append(Trigger(name, causes, trigger.resolution, trigger.least, trigger.refire))
    return tuple(active)


@Derived
def _by_cause(active: tuple[Trigger, ...]) -> dict[Cause, tuple[Trigger, ...]]:
    """The triggers that each cause may set off, in their order."""
    by_cause: dict[Cause, tuple[Trigger, ...]] = {}
    for trigger in active:
        for cause in trigger.causes:
            by_cause[cause] = (*by_cause.get(cause, ()), trigger)
    return by_cause


class Wakeups(Stateful):
    """Match stimuli against triggers; an interval holds each trigger back on its own, in the log's time."""

    STATE = ("deduplicated", tabled("_fired", 2))

    def __init__(self, settings: WakeupSettings, more: tuple[Trigger, ...] = ()) -> None:
        self._triggers = (*triggers(settings), *more) if more else triggers(settings)
        self._by_cause = _by_cause(self._triggers)
        self._fired: dict[str, tuple[float, int]] = {}
        self.deduplicated = 0  # Wakeups left to a theta tick that was due anyway.
        self.window = settings.window

    def update(self, stimuli: Stimuli, at: float) -> Wakeup | None:
        """Fire what matches and return the highest resolution; the first trigger wins among equals."""
        highest: Wakeup | None = None
        for stimulus in stimuli:
            for trigger in self._by_cause.get(stimulus.cause, ()):
                if stimulus.measure < trigger.least:
                    continue
                if trigger.like != "*" and not fnmatchcase(stimulus.what, trigger.like):
                    continue
                last = self._fired.get(trigger.name)
                if last is not None and 0.0 <= at - last[0] < trigger.refire:
                    continue
                self._fired[trigger.name] = (at, 1 if last is None else last[1] + 1)
                if highest is None or (highest.resolution == "gamma" and trigger.resolution == "theta"):
                    highest = Wakeup(trigger.name, trigger.resolution)
        return highest

    def fired(self) -> tuple[tuple[Trigger, float | None, int], ...]:
        """Each trigger, when it last fired, and how often."""
        return tuple((trigger, *self._fired.get(trigger.name, (None, 0))) for trigger in self._triggers)


Resolution = Literal["gamma", "theta"]

MICRO = 1_000_000  # Ticks are kept in whole microseconds.


class Ticks(NamedTuple):
    """Ticks that came due together."""

    gamma: int = 0
    theta: int = 0
    delta: int = 0


NO_TICKS = Ticks()
ONE_GAMMA = Ticks(gamma=1)


class Clock(Stateful):
    """Three rhythms in whole microseconds, so that splitting a stretch of time changes no tick.

    However long the stretch, it costs no more than the few doublings from the shortest theta to the longest.
    """

    STATE = (
        grouped("times", "_now", "_gamma_next", "_theta_next", "_theta", "_since_delta"),
        grouped("pace", "violations", "_busy", "factor"),
        grouped("counts", "gamma", "theta", "delta"),
    )

    def __init__(self, settings: ClockSettings) -> None:
        self._gamma_longest = settings.gamma_longest * MICRO
        self._gamma_shortest = min(settings.gamma_shortest, settings.gamma_longest) * MICRO
        self._settings = settings
        self._theta_shortest = int(settings.theta_shortest * MICRO)
        self._theta_longest = int(max(settings.theta_shortest, settings.theta_longest) * MICRO)
        self.factor = 1.0
        self.violations = 0
        self._busy = False
        self._now = 0
        self._theta = self._theta_shortest
        self._gamma_step = self._gamma_interval()
        self._gamma_next = self._gamma_step
        self._theta_next = self._theta
        self._since_delta = 0
        # Microsecond of the next tick; before it there is no need to advance.
        self.due = min(self._gamma_next, self._theta_next)
        self.gamma = 0
        self.theta = 0
        self.delta = 0

    def advance(self, now: float) -> Ticks:
        """Let subjective time pass up to `now` seconds and say which ticks came due."""
        until = int(now * MICRO)
        if until > self._now:
            self._now = until
        if until < self.due:
            return NO_TICKS
        gamma = theta = 0
        if until < self._theta_next and until < self._gamma_next + self._gamma_step:
            self._gamma_next += self._gamma_step
            self.gamma += 1
            self.due = min(self._gamma_next, self._theta_next)
            return ONE_GAMMA
        if self._theta_next <= until:
            gamma = self._gammas_until(self._theta_next)
            theta = self._thetas_until(until)
        gamma += self._gammas_until(until)
        self.gamma += gamma
        self.due = min(self._gamma_next, self._theta_next)
        return Ticks(gamma, theta, self._count_thetas(theta))

    def violation(self, now: float) -> None:
        """Something went wrong: perceive more often until the next theta tick, and think sooner after it."""
        self._busy = True
        self.violations += 1
        self._gamma_step = self._gamma_interval()
        self._gamma_next = min(self._gamma_next, int(now * MICRO) + self._gamma_step)
        self.due = min(self._gamma_next, self._theta_next)

    def throttle(self, used: float) -> None:
        """Slow all rhythms down as the budget runs out; what is scheduled already stays."""
        slowings = (used >= self._settings.throttle_from) + (used >= self._settings.throttle_hard)
        factor = self._settings.throttle_factor**slowings
        if factor != self.factor:
            self.factor = factor
            self._gamma_step = self._gamma_interval()

    def wake(self, resolution: Resolution, now: float, window: float) -> Ticks | None:
        """Tick out of turn; None where a theta tick is due within the window anyway."""
        at = int(now * MICRO)
        if self._theta_next - at <= int(window * MICRO):
            return None
        if resolution == "gamma":
            self.gamma += 1
            self._gamma_next = at + self._gamma_step
            self.due = min(self._gamma_next, self._theta_next)
            return ONE_GAMMA
        self._accelerate()
        self._theta_next = at + int(self._theta * self.factor)
        self.due = min(self._gamma_next, self._theta_next)
        return Ticks(theta=1, delta=self._count_thetas(1))

    def _gammas_until(self, until: int) -> int:
        if self._gamma_next > until:
            return 0
        ticks = (until - self._gamma_next) // self._gamma_step + 1
        self._gamma_next += ticks * self._gamma_step
        return ticks

    def _thetas_until(self, until: int) -> int:
        """Take the first theta tick as busy or quiet as the stretch was, the others as quiet."""
        if self.violations:
            self.violations = 0
            self._gamma_step = self._gamma_interval()
        if self._busy:
            self._busy = False
            self._accelerate()
        else:
            self._decelerate()
        ticks = 1
        self._theta_next += int(self._theta * self.factor)
        while self._theta_next <= until and self._theta < self._theta_longest:
            self._decelerate()
            ticks += 1
            self._theta_next += int(self._theta * self.factor)
        if self._theta_next <= until:
            step = int(self._theta * self.factor)
            more = (until - self._theta_next) // step + 1
            ticks += more
            self._theta_next += more * step
        return ticks

    def _count_thetas(self, ticks: int) -> int:
        if not ticks:
            return 0
        self.theta += ticks
        deltas, self._since_delta = divmod(self._since_delta + ticks, self._settings.delta_every)
        self.delta += deltas
        return deltas

    def _gamma_interval(self) -> int:
        interval = max(
            self._gamma_shortest, self._gamma_longest / (1.0 + self._settings.gamma_violation * self.violations)
        )
        return int(interval * self.factor)

    def _accelerate(self) -> None:
        self._theta = max(self._theta // 2, self._theta_shortest)

    def _decelerate(self) -> None:
        self._theta = min(self._theta * 2, self._theta_longest)

    @property
    def gamma_interval(self) -> float:
        """Seconds between gamma ticks as things are now."""
        return self._gamma_step / MICRO

    @property
    def theta_interval(self) -> float:
        """Seconds between theta ticks as things are now."""
        return self._theta * self.factor / MICRO

    @property
    def gamma_in(self) -> float:
        """Seconds to the next gamma tick."""
        return (self._gamma_next - self._now) / MICRO

    @property
    def theta_in(self) -> float:
        """Seconds to the next theta tick."""
        return (self._theta_next - self._now) / MICRO

    @property
    def delta_in(self) -> int:
        """Theta ticks to the next delta tick."""
        return self._settings.delta_every - self._since_delta

    def restored(self) -> None:
        """Bring rhythms outside this clock's bounds inside."""
        self._theta = min(max(self._theta, self._theta_shortest), self._theta_longest)
        self._since_delta = min(self._since_delta, self._settings.delta_every - 1)
        self._gamma_step = self._gamma_interval()
        self.due = min(self._gamma_next, self._theta_next)
