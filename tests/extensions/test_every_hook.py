"""Every hook is called where the product comes to it, and each also where it is the only one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from bench.workload import session
from core.agents.open_events import write
from core.agents.registry import make_kit
from core.engine.response.rules import add_rules, built_in
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, Prompt, SessionEnd, Turn
from core.extension import Extension, Registry, registry
from core.extension.hooks import HOOKS
from core.live.driver import Driver
from core.live.source import Followed
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from core.timeline.checkpoints import Checkpoints
from core.timeline.initial_state import InitialState
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIf

SETTINGS = Settings()
RULES = add_rules(
    built_in(),
    b"""{"methods": [{"id": "context_snapshot", "trigger": {
        "signals": ["frustration", "seeking", "compound", "fatigue"],
        "states": ["stuck", "exploring", "deep_work", "idle"], "sensitivity": 1.0, "frequency": "high"}}]}""",
    "rules of the test",
)
CHANGING = {"on_input", "on_context", "before_agent_start"}
ELSEWHERE = {"on_branch", "on_error", "on_tool_call", "on_intervention", "on_model_request", *CHANGING}
"""Hooks that a session's own events do not reach."""


def listener(*hooks: str) -> tuple[type[Extension], list[tuple[str, tuple[Any, ...]]]]:
    """An extension with only these hooks, and what it heard."""
    heard: list[tuple[str, tuple[Any, ...]]] = []

    def hears(hook: str) -> Any:
        return lambda self, *given: heard.append((hook, given))

    return type("Hears", (Extension,), {"name": "hears", **{hook: hears(hook) for hook in hooks}}), heard


@pytest.fixture(scope="module")
def lived() -> list[Event]:
    """A session in which everything happens that a log can tell."""
    events = session(500)
    last = events[-1].at
    return [
        *events,
        AgentStart(at=last + 1, agent=MAIN, child="sub"),
        AgentEnd(at=last + 2, agent=MAIN, child="sub"),
        Compaction(at=last + 3, agent=MAIN),
        Prompt(at=last + 4, agent=MAIN, characters=9),
        Turn(at=last + 5, agent=MAIN),
        SessionEnd(at=last + 6, agent=MAIN),
    ]


def watched(folder: Path, events: list[Event], extension: Extension) -> None:
    path = folder / "log.jsonl"
    path.write_bytes(b"".join(write(event, "a") + b"\n" for event in events))
    source = Followed(path, make_kit(SETTINGS.ingest), SETTINGS)
    initial = InitialStates(SETTINGS, InitialState(rules=RULES))
    driver = Driver(source, initial, extensions=[extension], wall=lambda: events[-1].at)
    more = True
    while more:
        list(driver.poll(100))
        more = driver.source.behind
    driver.close()


def test_one_that_has_them_all_hears_them_all(tmp_path: Path, lived: list[Event]) -> None:
    kind, heard = listener(*HOOKS)
    watched(tmp_path, lived, kind())
    names = [hook for hook, _ in heard]
    assert set(HOOKS) - set(names) == ELSEWHERE
    assert names[0] == "on_session_start" and names[-1] == "on_shutdown"
    assert names.count("on_event") == len(lived)


@pytest.mark.parametrize("hook", sorted(set(HOOKS) - ELSEWHERE))
def test_one_that_has_a_single_hook_hears_it(hook: str, tmp_path: Path, lived: list[Event]) -> None:
    kind, heard = listener(hook)
    watched(tmp_path, lived, kind())
    assert {name for name, _ in heard} == {hook}


@pytest.fixture(autouse=True)
def no_leftovers() -> Iterator[None]:
    yield
    registry.program_registry.cache_clear()


def test_a_checkpoint_of_the_person_is_told_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, heard = listener("on_checkpoint")
    program(monkeypatch, kind())
    timeline = Timeline(SETTINGS)
    for event in session(40):
        timeline.add(event)
    Checkpoints(Bookmarks("a", folder=home / "marks"), 16).make(timeline, 30, "before", created=1.0)
    [(_, [request])] = heard
    assert (request.name, request.pattern, request.at) == ("before", "person", timeline.time_of(30))


def test_a_branch_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, heard = listener("on_branch")
    program(monkeypatch, kind())
    timeline = Timeline(SETTINGS)
    for event in session(40):
        timeline.add(event)
    WhatIf(timeline, {"receptor.thresholds.offset": 0.1}).run(lambda _: None, lambda: False)
    [(_, [branch])] = heard
    assert branch.events == 40


def program(monkeypatch: pytest.MonkeyPatch, one: Extension) -> None:
    """Let an extension be the program's only one."""
    monkeypatch.setattr(registry, "listening", lambda: ([one], []))
    registry.program_registry.cache_clear()


class Failing(Extension):
    """Fails at every event."""

    name: ClassVar[str] = "failing"

    def on_event(self, *given: Any) -> None:
        raise RuntimeError("no")


def test_a_fault_is_told_to_the_others() -> None:
    kind, heard = listener("on_error")
    registry = Registry([Failing(), kind()])
    for _ in range(5):
        registry.call("on_event", None, None, None)
    assert [fault.number for _, [fault] in heard] == [1, 2, 3]
