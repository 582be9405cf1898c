"""Order, restrictive answers, faults that are counted, and hooks that cost nothing where nobody has them."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from bench.workload import session
from core.engine.mind.fabric import Ticked
from core.engine.percept import Axis
from core.engine.society import Society
from core.events import Event
from core.extension import Answer, Extension, Fault, Registry, ToolCall
from core.extension.hooks import HOOKS, ordered
from core.settings import Settings

CALL = ToolCall("s", "Bash", "shell_exec", "", "Bash ls")


def made(named: str, at: int = 7, needs: tuple[str, ...] = (), **hooks: Any) -> Extension:
    """An extension of that name with some hooks."""
    kind = type(named, (Extension,), {"name": named, "layer": at, "depends_on": needs, **hooks})
    return kind()  # type: ignore[no-any-return]


def answering(named: str, answer: object, asked: list[str], at: int = 7) -> Extension:
    def on_tool_call(self: Extension, call: ToolCall) -> object:
        asked.append(named)
        return answer

    return made(named, at, on_tool_call=on_tool_call)


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ([("b", 1, ()), ("a", 1, ())], ["a", "b"]),
        ([("a", 7, ()), ("b", 0, ())], ["b", "a"]),
        ([("a", 3, ("z",)), ("z", 3, ())], ["z", "a"]),
        ([("c", 2, ("b",)), ("b", 2, ("a",)), ("a", 1, ())], ["a", "b", "c"]),
    ],
)
def test_each_runs_after_all_it_depends_on_lower_layers_first(
    given: list[tuple[str, int, tuple[str, ...]]], order: list[str]
) -> None:
    placed, complaints = ordered([made(*one) for one in given])
    assert [one.name for one in placed] == order and complaints == []


@pytest.mark.parametrize(
    ("given", "left", "why"),
    [
        ([("a", 0, ("gone",))], [], "depends on gone, which is not installed"),
        ([("a", 0, ("b",)), ("b", 1, ())], ["b"], "layer 0 and depends on b in layer 1"),
        ([("a", 8, ()), ("b", 7, ())], ["b"], "layer is 8; it must be 0 to 7"),
        ([("a", -1, ())], [], "layer is -1"),
        ([("a", 0, ()), ("a", 0, ())], ["a"], "another extension has the same name"),
        ([("a b", 0, ())], [], "its name may contain only"),
        ([("a", 0, ("b",)), ("b", 0, ("a",)), ("c", 0, ())], ["c"], "in a circle"),
        ([("a", 0, ("b",)), ("b", 0, ("gone",))], [], "a is ignored: it depends on b"),
    ],
)
def test_what_does_not_fit_is_left_out_and_named(
    given: list[tuple[str, int, tuple[str, ...]]], left: list[str], why: str
) -> None:
    placed, complaints = ordered([made(*one) for one in given])
    assert [one.name for one in placed] == left
    assert any(why in sentence for sentence in complaints), complaints


@pytest.mark.parametrize(
    ("answers", "strictest", "asked"),
    [
        ([], "pass", []),
        (["pass", "pass"], "pass", ["0", "1"]),
        (["ask", "pass"], "ask", ["0", "1"]),
        (["pass", "block", "ask"], "block", ["0", "1"]),
        (["block", "pass"], "block", ["0"]),
    ],
)
def test_the_most_restrictive_answer_wins_and_a_block_ends_the_asking(
    answers: list[Answer], strictest: Answer, asked: list[str]
) -> None:
    seen: list[str] = []
    registry = Registry([answering(str(n), answer, seen) for n, answer in enumerate(answers)])
    assert registry.ask("on_tool_call", CALL)[0] == strictest
    assert seen == asked


def test_nonsense_and_faults_ask_the_person_rather_than_let_a_call_pass() -> None:
    seen: list[str] = []
    assert Registry([answering("a", "yes please", seen)]).ask("on_tool_call", CALL) == ("ask", "a")
    assert Registry([answering("a", None, seen)]).ask("on_tool_call", CALL) == ("ask", "a")


class Failing(Extension):
    name: ClassVar[str] = "failing"

    def __init__(self) -> None:
        self.calls = 0

    def on_gamma(self, count: int) -> None:
        self.calls += 1
        raise RuntimeError("no \x1b[31mred\x1b[0m")


class Told(Extension):
    name: ClassVar[str] = "told"

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def on_error(self, fault: Fault) -> None:
        self.faults.append(fault)


@pytest.mark.parametrize("tolerance", [1, 2, 3])
def test_a_fault_is_counted_and_shown_and_after_a_few_it_is_switched_off(tolerance: int) -> None:
    failing, told = Failing(), Told()
    registry = Registry([failing, told], tolerance=tolerance)
    for _ in range(5):
        registry.call("on_gamma", 1)
    assert failing.calls == tolerance
    assert [fault.number for fault in registry.faults] == list(range(1, tolerance + 1))
    assert [fault.off for fault in registry.faults] == [False] * (tolerance - 1) + [True]
    assert told.faults == registry.faults
    assert not registry.is_on("failing") and registry.is_on("told")
    assert "switched off" in registry.faults[-1].sentence and "\x1b" not in registry.faults[-1].sentence
    by_name = {one.name: one for one in registry.standing()}
    assert by_name["failing"].faults == tolerance and not by_name["failing"].on


def test_what_is_essential_is_never_switched_off() -> None:
    class Essential(Failing):
        essential: ClassVar[bool] = True

    failing = Essential()
    registry = Registry([failing], tolerance=1)
    for _ in range(4):
        registry.call("on_gamma", 1)
    assert failing.calls == 4 and registry.is_on("failing")


class Everything(Extension):
    """Counts every hook."""

    name: ClassVar[str] = "everything"

    def __init__(self) -> None:
        self.heard: dict[str, int] = {}


def _counting(hook: str) -> Any:
    def run(self: Everything, *given: object) -> str:
        self.heard[hook] = self.heard.get(hook, 0) + 1
        return "" if hook == "after_tick" else "pass"

    return run


for _hook in HOOKS:
    setattr(Everything, _hook, _counting(_hook))


def test_hooks_hear_each_event_once_and_ticks_of_each_rhythm() -> None:
    listener = Everything()
    registry, society = Registry([listener]), Society(Settings())
    events: list[Event] = session(900, agents=2)
    ticked: list[Ticked] = []
    for event in events:
        step = society.step(event)
        ticked += [told for told in step.thought.emitted if isinstance(told, Ticked)]
        registry.take(event, step, society)
    kinds = [type(event).__name__ for event in events]
    heard = listener.heard
    assert heard["on_event"] == len(events)
    for hook, kind in (("on_tool_result", "ToolUse"), ("on_turn", "Turn"), ("on_prompt", "Prompt")):
        assert heard.get(hook, 0) == kinds.count(kind)
    assert heard.get("on_delta", 0) == sum(one.kind == "delta" for one in ticked)
    assert heard["on_theta"] == sum(one.kind != "delta" for one in ticked) > 0
    assert heard["on_gamma"] > 0


def test_without_hooks_nothing_is_called() -> None:
    registry = Registry([made("quiet")])
    assert registry.idle and not any(registry.wants(hook) for hook in HOOKS)
    for hook in HOOKS:
        given: tuple[object, ...] = (None,) * 3
        assert registry.ask(hook, *given) == ("pass", "")
        registry.call(hook, *given)
    assert registry.change("on_input", "s", "go on") == "go on" and registry.starting_lines("s") == []
    assert registry.faults == []


class Editor(Extension):
    """Changes what is said and learned."""

    name = "editor"

    def before_agent_start(self, session: str) -> list[str]:
        return [f"{session}: run make check", "two", "three", "four"]

    def on_input(self, session: str, words: str) -> str:
        return f"{words}, please"

    def after_tick(self, tick: Ticked) -> dict[Axis, float]:
        return {"frustration": 0.01}


class Broken(Extension):
    """Answers nonsense everywhere."""

    name = "broken"

    def before_agent_start(self, session: str) -> Any:
        return 5

    def on_input(self, session: str, words: str) -> Any:
        return None

    def after_tick(self, tick: Ticked) -> Any:
        return {"flow": 1.0}


def test_hooks_change_words_lines_and_lessons_and_nonsense_changes_nothing() -> None:
    registry = Registry([Editor(), Broken()], tolerance=1000)
    assert registry.change("on_input", "s", "stop") == "stop, please"
    assert registry.starting_lines("s") == [("editor", "s: run make check two three")]
    society = Society(Settings())
    for event in session(300):
        registry.take(event, society.step(event), society)
    assert set(registry.lessons) == {"frustration"} and registry.lessons["frustration"] > 0.01
    assert {fault.hook for fault in registry.faults} == {"on_input", "before_agent_start", "after_tick"}
