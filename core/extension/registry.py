"""The registry of what is installed: checks and orders extensions, runs their hooks, drops what keeps failing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import cbor2
from blake3 import blake3

from core.engine.mind.fabric import Ticked
from core.engine.percept import Axis
from core.engine.response.rules import LEARNING_AXES
from core.engine.society import Society
from core.engine.society.engine import Step
from core.errors import NooscopeError
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, Prompt, SessionEnd, ToolUse, Turn
from core.extension.hooks import ANSWERS, FAULTS, HOOKS, Answer, Extension, ExtensionState, Fault, ordered, standing_of
from core.extension.in_step import StepExtension, StepMaker
from core.extension.offers import find_offers, in_use
from core.safe_text import safe

_BY_EVENT: tuple[tuple[type, str], ...] = (
    (Prompt, "on_prompt"),
    (AgentStart, "on_agent_start"),
    (AgentEnd, "on_agent_end"),
    (Turn, "on_turn"),
    (ToolUse, "on_tool_result"),
    (Compaction, "on_compaction"),
)
_FROM_MIND = ("on_gamma", "on_theta", "on_delta", "on_mind_event", "on_dream", "on_episode", "after_tick")
_LINES = 3  # Lines one extension may offer an agent at its start.
_FROM_SESSION = ("on_session_start", "on_session_end", "on_event", "on_checkpoint", *_FROM_MIND)


class Registry:
    """Runs the hooks of all extensions of one session, in order; used by one thread at a time.

    Only hooks that somebody overrides are ever called.
    """

    def __init__(self, extensions: Iterable[Extension] = (), *, tolerance: int = FAULTS) -> None:
        self.extensions, self.complaints = ordered(extensions)
        self.faults: list[Fault] = []  # Since the last look.
        self.session = ""  # The id of the session they listen to.
        self.lessons: dict[Axis, float] = {}  # How far extensions would move the sensitivity of axes.
        self._tolerance = tolerance
        self._counts: dict[str, int] = {}
        self._last: dict[str, str] = {}
        self._off: set[str] = set()
        self._lock = threading.RLock()
        self._wire()

    def _wire(self) -> None:
        """Look up who overrides what, once."""
        on = [one for one in self.extensions if one.name not in self._off]
        self._hooks: dict[str, tuple[tuple[Extension, Callable[..., Any]], ...]] = {
            hook: tuple(
                (one, getattr(one, hook))
                for one in on
                if getattr(type(one), hook, None) is not getattr(Extension, hook)
                and not (one.slow and hook == "on_mind_event")
            )
            for hook in HOOKS
        }
        self._by_event = {kind: hook for kind, hook in _BY_EVENT if self._hooks[hook]}
        self._minded = any(self._hooks[hook] for hook in _FROM_MIND)
        # No hook waits for events.
        self.idle = not any(self._hooks[hook] for hook in _FROM_SESSION) and not self._by_event

    def wants(self, hook: str) -> bool:
        """Whether anyone overrides a hook."""
        return bool(self._hooks[hook])

    def call(self, hook: str, *arguments: Any) -> None:
        """Run one hook of everyone who has it."""
        for one, run in self._hooks[hook]:
            try:
                run(*arguments)
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(one, hook, fault)

    def change(self, hook: str, session: str, words: str) -> str:
        """Some words as everyone who has a hook would have them; a fault or nonsense leaves them as they are."""
        for one, run in self._hooks[hook]:
            try:
                words = safe(str.strip(run(session, words)))
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(one, hook, fault)
        return words

    def starting_lines(self, session: str) -> list[tuple[str, str]]:
        """Return what extensions offer to a starting agent, each with its extension; it is said in one sentence."""
        lines: list[tuple[str, str]] = []
        for one, run in self._hooks["before_agent_start"]:
            try:
                words = " ".join([safe(str.strip(line)) for line in (*run(session),)[:_LINES]])
                lines += [(one.name, words)] if words else []
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(one, "before_agent_start", fault)
        return lines

    def _learn(self, tick: Ticked) -> None:
        for one, run in self._hooks["after_tick"]:
            try:
                for axis, change in dict(run(tick) or {}).items():
                    if axis not in LEARNING_AXES or not isfinite(change):
                        raise ValueError(f"it would change {axis!r} by {change!r}")
                    self.lessons[axis] = self.lessons.get(axis, 0.0) + change
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(one, "after_tick", fault)

    def ask(self, hook: str, *arguments: Any) -> tuple[Answer, str]:
        """The most restrictive answer and who gave it; `block` ends the asking. A fault or nonsense asks."""
        strictest: Answer = "pass"
        who = ""
        for one, run in self._hooks[hook]:
            try:
                answer = run(*arguments)
                if answer not in ANSWERS:
                    raise ValueError(f"it returned {answer!r}, not one of {', '.join(ANSWERS)}")
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(one, hook, fault)
                answer = "ask"
            if ANSWERS.index(answer) > ANSWERS.index(strictest):
                strictest, who = answer, one.name
            if strictest == "block":
                break
        return strictest, who

    def take(self, event: Event, step: Step, society: Society) -> None:
        """Run all hooks that an event and its step concern."""
        if self.idle:
            return
        if self._hooks["on_event"]:
            self.call("on_event", event, step, society)
        hook = self._by_event.get(type(event))
        if hook is not None:
            self.call(hook, event)
        if self._minded:
            self._from_mind(step)
        if type(event) is SessionEnd and event.agent == MAIN:
            self.call("on_session_end", self.session)

    def _from_mind(self, step: Step) -> None:
        thought = step.thought
        if thought.ticks.gamma:
            self.call("on_gamma", thought.ticks.gamma)
        for event in thought.emitted:
            self.call("on_mind_event", event)
            if type(event) is Ticked:
                self.call("on_delta" if event.kind == "delta" else "on_theta", event)
                self._learn(event)
        if thought.dream is not None:
            self.call("on_dream", thought.dream)
        if thought.episode is not None:
            self.call("on_episode", thought.episode)

    def fault(self, name: str, hook: str, error: BaseException, *, essential: bool = False) -> Fault:
        """Count a failure of one extension, of its panel or of its channel."""
        with self._lock:
            count = self._counts[name] = self._counts.get(name, 0) + 1
            words = safe(f"{type(error).__name__}: {error}").replace("\n", " ")[:160]
            self._last[name] = words
            off = count >= self._tolerance and not essential
            fault = Fault(name, hook, words, count, off)
            if off:
                self._off.add(name)
                self._wire()
            self.faults.append(fault)
        return fault

    def is_on(self, name: str) -> bool:
        """Whether it has not been switched off for its faults."""
        return name not in self._off

    def _failed(self, one: Extension, hook: str, error: Exception) -> None:
        fault = self.fault(one.name, hook, error, essential=one.essential)
        if hook != "on_error":
            for other, run in self._hooks["on_error"]:
                if other is not one:
                    try:
                        run(fault)
                    except Exception as again:  # noqa: BLE001 the one that is told may fail too
                        self.fault(other.name, "on_error", again, essential=other.essential)

    def standing(self) -> tuple[ExtensionState, ...]:
        """How each one does, in the order in which they run."""
        return tuple(standing_of(one, self._counts, self._last, one.name not in self._off) for one in self.extensions)


class StepRef(NamedTuple):
    """By which an extension in the step is known again: the same name, version and code find the same."""

    name: str
    version: str
    code: str  # A hash of the module it is in.


class InStep(NamedTuple):
    """The extensions that take part in the step, and what is wrong with others."""

    refs: tuple[StepRef, ...] = ()
    complaints: tuple[str, ...] = ()


def _fits(value: Any) -> str:
    if not (isinstance(value, type) and issubclass(value, Extension)):
        return "it is not a subclass of core.extension.Extension"
    return ""


def _classes() -> tuple[list[type[Extension]], list[str]]:
    if not find_offers().of("extension"):
        return [], []
    offers = in_use("extension", _fits)
    return [one.value for one in offers.used], list(offers.complaints)


def listening() -> tuple[list[Extension], list[str]]:
    """New objects of all that only listen, for one session, and what is wrong with others."""
    classes, complaints = _classes()
    extensions: list[Extension] = []
    for kind in classes:
        if issubclass(kind, StepExtension):
            continue
        try:
            extensions.append(kind())
        except Exception as fault:  # noqa: BLE001 an extension may fail in any way
            complaints.append(f"extension {kind.name or kind.__name__} cannot be created: {fault}")
    return extensions, complaints


def in_step() -> InStep:
    """Return the extensions that take part in every step of a new session."""
    classes, complaints = _classes()
    if not classes:
        return InStep((), tuple(complaints))
    extensions: list[StepExtension] = []
    for kind in classes:
        if issubclass(kind, StepExtension):
            try:
                extensions.append(_proved(kind))
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                complaints.append(f"extension {kind.name or kind.__name__} is ignored: {fault}")
    placed, wrong = ordered(extensions)
    return InStep(tuple(_ref(type(one)) for one in placed), (*complaints, *wrong))


def _proved(kind: type[StepExtension]) -> StepExtension:
    """One whose state can be kept as plain values and taken up again."""
    one, other = kind(), kind()
    state = cbor2.dumps(one.dump(), canonical=True)
    other.load(cbor2.loads(state))
    if cbor2.dumps(other.dump(), canonical=True) != state:
        raise NooscopeError("load(dump()) does not give the same state")
    return one


def _ref(kind: type[StepExtension]) -> StepRef:
    return StepRef(kind.name, kind.version, _code(kind.__module__))


@cache
def _code(module: str) -> str:
    file = getattr(sys.modules.get(module), "__file__", None)
    return blake3(Path(file).read_bytes()).hexdigest(16) if file else ""


def step_makers(refs: Iterable[StepRef]) -> tuple[list[StepMaker], list[StepRef]]:
    """Return the classes behind references, and the references that are not installed in that form."""
    classes: dict[StepRef, type[StepExtension]] = {
        _ref(kind): kind for kind in _classes()[0] if issubclass(kind, StepExtension)
    }
    refs = list(refs)
    return [classes[ref] for ref in refs if ref in classes], [ref for ref in refs if ref not in classes]


@cache
def program_registry() -> Registry:
    """Objects that serve the whole program: what concerns no one session is asked of them."""
    extensions, _ = listening()
    return Registry(extensions)
