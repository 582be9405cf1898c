"""Publishes what minds did: to extensions at once, and to slow subscribers through a bounded queue each."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from core.engine.mind.fabric import MindEvent
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import MAIN, Event
from core.extension.hooks import FAULTS, Extension, ExtensionState, Fault
from core.extension.in_step import ExtendedEngine
from core.extension.registry import Registry
from core.settings.program import ExtensionSettings
from core.store.compensation import ROLLBACKS


class BusEvent(NamedTuple):
    """One thing a mind did."""

    number: int  # Its place on the bus, from 0.
    agent: str
    event: MindEvent


class Subscriber:
    """One reader's queue; when it is full the oldest waiting event is dropped and counted."""

    def __init__(self, name: str, bound: int) -> None:
        self.name = name
        self.dropped = 0
        self.taken = 0
        self._waiting: deque[BusEvent] = deque(maxlen=bound)
        self._change = threading.Condition()
        self._closed = False

    def put(self, event: BusEvent) -> None:
        """Hand on one event; never waits."""
        with self._change:
            self.dropped += len(self._waiting) == self._waiting.maxlen
            self._waiting.append(event)
            self._change.notify()

    def poll(self) -> list[BusEvent]:
        """All that waits, the oldest first."""
        with self._change:
            waiting = list(self._waiting)
            self._waiting.clear()
            self.taken += len(waiting)
        return waiting

    def get(self, patience: float | None = None) -> BusEvent | None:
        """The next one; None once the bus is closed and all is read, or when patience ends."""
        with self._change:
            self._change.wait_for(lambda: bool(self._waiting) or self._closed, patience)
            if not self._waiting:
                return None
            self.taken += 1
            return self._waiting.popleft()

    def close(self) -> None:
        """No more will come."""
        with self._change:
            self._closed = True
            self._change.notify_all()


class SubscriberReading(NamedTuple):
    """How one subscriber does."""

    name: str
    taken: int
    dropped: int


class Bus:
    """Everything the minds of one session put on their rings, once each, in order."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._subscribers: list[Subscriber] = []
        self._threads: list[threading.Thread] = []
        self._seen: dict[str, int] = {}
        self.published = 0

    def __bool__(self) -> bool:
        return bool(self._subscribers)

    def subscribe(self, name: str) -> Subscriber:
        """A queue of one's own, from now on."""
        subscriber = Subscriber(name, self._bound)
        self._subscribers.append(subscriber)
        return subscriber

    def serve(self, name: str, work: Callable[[BusEvent], object]) -> Subscriber:
        """Have events worked off in a thread of its own."""
        queue = self.subscribe(name)

        def run() -> None:
            while (event := queue.get()) is not None:
                work(event)

        thread = threading.Thread(target=run, name=f"nooscope-bus-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()
        return queue

    def publish(self, society: Society, agent: str) -> None:
        """Hand on what an agent's mind did since the last time."""
        if agent not in society.agents:
            return
        fabric = society.engine(agent).mind.heart.fabric
        since = self._seen.get(agent, 0)
        if fabric.emitted < since:
            since = 0
        self._seen[agent] = fabric.emitted
        if fabric.emitted == since:
            return
        for _, event in fabric.replay(since):
            self.put(agent, event)

    def put(self, agent: str, event: MindEvent) -> None:
        """Hand one event to every subscriber."""
        bus_event = BusEvent(self.published, agent, event)
        self.published += 1
        for subscriber in self._subscribers:
            subscriber.put(bus_event)

    def start(self, society: Society) -> None:
        """Start at the newest event; earlier ones are not published."""
        for agent in society.agents:
            self._seen[agent] = society.engine(agent).mind.heart.fabric.emitted

    def readings(self) -> tuple[SubscriberReading, ...]:
        """How each subscriber does."""
        return tuple(SubscriberReading(one.name, one.taken, one.dropped) for one in self._subscribers)

    def close(self, patience: float = 2.0) -> None:
        """Let subscribers read what waits, not longer than patience."""
        for one in self._subscribers:
            one.close()
        for thread in self._threads:
            thread.join(patience)


class Listeners:
    """Tells extensions and subscribers of each event, and collects what went wrong with them."""

    def __init__(self, extensions: Iterable[Extension], settings: ExtensionSettings) -> None:
        self.bus = Bus(settings.bus)
        self.registry = Registry(extensions, tolerance=settings.faults)
        self.problems = list(self.registry.complaints)  # What there is to say of them since last asked.
        self._step_faults: dict[tuple[str, str], int] = {}
        self._started = False
        for one in self.registry.extensions:
            if one.slow:
                self.bus.serve(one.name, partial(self._work_off, one))

    @property
    def has_listeners(self) -> bool:
        """Whether anybody listens at all."""
        return not self.registry.idle or bool(self.bus)

    def _work_off(self, one: Extension, bus_event: BusEvent) -> None:
        """Let a slow extension work off one event of the bus, in its own thread."""
        if self.registry.is_on(one.name):
            try:
                one.on_mind_event(bus_event.event)
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
            for checkpoint in step.reaction.checkpoints:
                self.registry.call("on_checkpoint", checkpoint)
        self._look_for_faults(society, event.agent)
        if self.bus:
            self.bus.publish(society, event.agent)
        while self.has_listeners and ROLLBACKS:
            rollback = ROLLBACKS.popleft()
            self.registry.call("on_mind_event", rollback)
            self.bus.put(MAIN, rollback)

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

    def standing(self, society: Society) -> tuple[ExtensionState, ...]:
        """How everyone who listens or takes part in the step does, lower layers first."""
        engine = society.engine(MAIN)
        inside = engine.standing() if isinstance(engine, ExtendedEngine) else ()
        return (*self.registry.standing(), *inside)

    def take_problems(self) -> list[str]:
        """Return the problems since the last call."""
        sentences = [*self.problems, *(fault.sentence for fault in self.registry.faults)]
        self.problems.clear()
        self.registry.faults.clear()
        return sentences
