"""Everyone who listens to one session: extensions, our own carry-over and notices among them, and the bus."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from core.engine import Step
from core.events import MAIN, Event
from core.extension.hooks import FAULTS, Extension, ExtensionStanding, Fault
from core.extension.in_step import ExtendedEngine
from core.extension.registry import Registry
from core.live.bus import Bus, BusEvent
from core.settings.extensions import ExtensionSettings
from core.society import Society


class Listeners:
    """Tells extensions and subscribers of each event, and collects what went wrong with them."""

    def __init__(self, extensions: Iterable[Extension], settings: ExtensionSettings) -> None:
        self.bus = Bus(settings.bus)
        self.registry = Registry(extensions, tolerance=settings.faults)
        self.problems = list(self.registry.complaints)
        """What there is to say of them since last asked."""
        self._step_faults: dict[tuple[str, str], int] = {}
        self._started = False
        for one in self.registry.extensions:
            if one.slow:
                self.bus.serve(one.name, partial(self._work_off, one))

    @property
    def wanted(self) -> bool:
        """Whether anybody listens at all."""
        return not self.registry.idle or bool(self.bus)

    def _work_off(self, one: Extension, told: BusEvent) -> None:
        """Let a slow extension work off one event of the bus, in its own thread."""
        if self.registry.is_on(one.name):
            try:
                one.on_mind_event(told.event)
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self.registry.fault(one.name, "on_mind_event", fault)

    def take(self, session: str, event: Event, step: Step, society: Society) -> None:
        """Tell everyone of an event and of what it did."""
        if not self.registry.idle:
            if not self._started:
                self._started = True
                self.registry.session = session
                self.registry.call("on_session_start", session)
            self.registry.take(event, step, society)
            for asked in step.reaction.checkpoints:
                self.registry.call("on_checkpoint", asked)
        self._look_for_faults(society, event.agent)
        if self.bus:
            self.bus.publish(society, event.agent)

    def _look_for_faults(self, society: Society, agent: str) -> None:
        """Say that an extension in the step failed, once for each of its faults."""
        engine = society.engine(agent)
        if not isinstance(engine, ExtendedEngine):
            return
        for name, number in engine.faults.items():
            if number > self._step_faults.get((agent, name), 0):
                self._step_faults[agent, name] = number
                words = engine.troubles.get(name, "it gave no reason")
                self.problems.append(Fault(name, "the step", words, number, number >= FAULTS).sentence)

    def standing(self, society: Society) -> tuple[ExtensionStanding, ...]:
        """How everyone who listens or takes part in the step does, lower layers first."""
        engine = society.engine(MAIN)
        inside = engine.standing() if isinstance(engine, ExtendedEngine) else ()
        return (*self.registry.standing(), *inside)

    def take_problems(self) -> list[str]:
        """What went wrong since last asked."""
        found = [*self.problems, *(fault.sentence for fault in self.registry.faults)]
        self.problems.clear()
        self.registry.faults.clear()
        return found
