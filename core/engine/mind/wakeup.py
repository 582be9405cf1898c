"""What may wake the mind between ticks: triggers as data, each with its own interval."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

from core.engine.mind.clock import Resolution
from core.engine.mind.stimulus import Cause, Stimuli
from core.engine.state import Stateful, tabled
from core.settings.derived import Derived
from core.settings.mind import TriggerSettings, WakeupSettings


class Trigger(NamedTuple):
    """Fires on a stimulus of one of its causes that is large enough."""

    name: str
    causes: tuple[Cause, ...]
    resolution: Resolution
    least: float
    refire: float
    like: str = "*"
    """What the stimulus' words must look like."""


class Wakeup(NamedTuple):
    """A trigger that fired."""

    trigger: str
    resolution: Resolution


CAUSES: dict[str, tuple[Cause, ...]] = {
    "owner_message": ("prompt", "interrupt"),
    "policy_tripwire": ("rejected", "destructive", "halt"),
    "failure_burst": ("streak",),
    "context_full": ("context",),
    "sub_agent_done": ("report",),
    "token_burn": ("burn",),
}
"""The built-in triggers and what sets each off."""


@Derived
def triggers(settings: WakeupSettings) -> tuple[Trigger, ...]:
    """The built-in triggers that are switched on."""
    found = []
    for name, causes in CAUSES.items():
        given: TriggerSettings = getattr(settings, name)
        if given.on:
            found.append(Trigger(name, causes, given.resolution, given.least, given.refire))
    return tuple(found)


@Derived
def _by_cause(known: tuple[Trigger, ...]) -> dict[Cause, tuple[Trigger, ...]]:
    """The triggers that each cause may set off, in their order."""
    found: dict[Cause, tuple[Trigger, ...]] = {}
    for trigger in known:
        for cause in trigger.causes:
            found[cause] = (*found.get(cause, ()), trigger)
    return found


class Wakeups(Stateful):
    """Match stimuli against triggers; an interval holds each trigger back on its own, in the log's time."""

    __slots__ = ("_by_cause", "_fired", "_triggers", "deduplicated", "window")
    STATE = (
        "deduplicated",
        tabled("_fired", 2),
    )

    def __init__(self, settings: WakeupSettings, more: tuple[Trigger, ...] = ()) -> None:
        self._triggers = (*triggers(settings), *more) if more else triggers(settings)
        self._by_cause = _by_cause(self._triggers)
        self._fired: dict[str, tuple[float, int]] = {}
        self.deduplicated = 0
        """Wakeups left to a theta tick that was due anyway."""
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
