"""The registry: checks extensions, orders them, runs their hooks, and switches off what keeps failing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

from core.engine.mind.fabric import Ticked
from core.engine.percept import Axis
from core.engine.response.learned import LEARNING_AXES
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, Prompt, SessionEnd, ToolUse, Turn
from core.extension.hooks import (
    ANSWERS,
    FAULTS,
    HOOKS,
    Answer,
    Extension,
    ExtensionStanding,
    Fault,
    ordered,
    standing_of,
)
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

    def standing(self) -> tuple[ExtensionStanding, ...]:
        """How each one does, in the order in which they run."""
        return tuple(standing_of(one, self._counts, self._last, one.name not in self._off) for one in self.extensions)
