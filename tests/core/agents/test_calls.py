"""Calls paired with results."""

from __future__ import annotations

import gc

import pytest

from core.agents.calls import Calls, Result
from core.engine.values import fingerprint
from core.events import Where
from tests.core.agents.samples import new_kit

_HERE = Where("log", 0, 1)


def test_a_result_closes_its_call_once() -> None:
    """A second result of the same call says nothing new."""
    kit = new_kit()
    calls = Calls(kit, "claude-code")
    calls.project = "/home/me/app/"
    assert calls.begin("a", "Read", {"file_path": "/home/me/app/src/x.py"}, 10.0, "child")
    assert not calls.begin("a", "Read", {"file_path": "/home/me/app/src/x.py"}, 11.0)
    use = calls.end("a", 12.5, Result("text"), _HERE)
    assert use is not None
    assert (use.agent, use.targets, use.duration, use.size) == ("child", ("src/x.py",), 2.5, 4)
    assert use.result == fingerprint("text")
    assert calls.end("a", 13.0, Result("text"), _HERE) is None
    assert kit.diagnostics.total == 0
    assert calls.unanswered() == []


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("fix the tests", 0),
        ("why does parse fail", 0),
        ("why does parse() fail", 1),
        ("why does io.parse fail", 1),
        ("why does parser.run fail", 1),
        ("why does run() fail", 0),
        ("see max_size and MAX_SIZE and maxSize and __init__", 3),
        ("x = lambda a: a", 0),
        ("HTTP is slow. Make it fast", 0),
        ("parse() again, parse() and parse_all()", 2),
        (" ".join(f"name_{n}" for n in range(64)), 64),
        (" ".join(f"name_{n}" for n in range(65)), 64),
    ],
)
def test_names_of_code_in_a_prompt(prompt: str, names: int) -> None:
    assert Calls(new_kit(), "claude-code").look_for_names(prompt) == names


@pytest.mark.parametrize(("before", "names"), [(7994, 1), (7995, 0)])
def test_names_at_the_beginning_of_a_long_prompt(before: int, names: int) -> None:
    assert Calls(new_kit(), "claude-code").look_for_names(" " * before + "parse()") == names


def test_a_name_of_the_prompts_comes_up_once() -> None:
    """A name counts in the first result that contains it, for the agent that was asked."""
    calls = Calls(new_kit(), "claude-code")
    assert calls.look_for_names("see read_all and write_all") == 2
    assert calls.look_for_names("see write_all and close_all") == 1, "only new names count"
    assert calls.look_for_names("see read_all", "child") == 1

    def named(text: str, agent: str = "main") -> int:
        use = calls.both("a", "Read", {"file_path": "x.py"}, None, 1.0, Result(text), _HERE, agent)
        return use.named

    assert named("") == 0
    assert named("def read_all(): write_all()", "other") == 0
    assert named("def read_all(): write_all()") == 2
    assert named("def read_all(): write_all()") == 0
    assert named("def read_all(): write_all()", "child") == 1
    assert named("close_all") == 1


@pytest.mark.parametrize(
    ("before", "after", "named"), [(491, 400, 1), (492, 400, 0), (600, 291, 1), (600, 292, 0), (492, 299, 1)]
)
def test_names_are_looked_for_at_the_ends_of_a_long_result(before: int, after: int, named: int) -> None:
    calls = Calls(new_kit(), "claude-code")
    calls.look_for_names("see close_all")
    text = " " * before + "close_all" + " " * after
    assert calls.both("a", "Bash", {"command": "make"}, None, 1.0, Result(text), _HERE).named == named


def test_a_result_without_a_call_is_counted_once() -> None:
    """An orphan is a fault of the log."""
    kit = new_kit()
    calls = Calls(kit, "claude-code")
    assert calls.end("lost", 1.0, Result("x"), _HERE, line=7) is None
    assert calls.end("lost", 1.0, Result("x"), _HERE, line=9) is None
    assert kit.diagnostics.total == 0
    assert calls.finish() == []
    assert kit.diagnostics.counts == {"result without a call": 1}
    assert kit.diagnostics.first[0].line == 7
    assert calls.finish() == [] and kit.diagnostics.total == 1


def test_a_result_before_its_call_waits_for_it() -> None:
    """It closes the call at the time the result was told; how long it took is not known."""
    kit = new_kit()
    calls = Calls(kit, "claude-code")
    assert calls.end("a", 5.0, Result("x", error=True, exit_code=3), _HERE, line=7) is None
    assert calls.joined() == []
    assert calls.begin("a", "Bash", {"command": "make"}, 6.0, "child")
    (use,) = calls.joined()
    assert (use.id, use.at, use.agent, use.outcome, use.exit_code, use.duration) == (
        *("a", 5.0, "child", "failure", 3),
        None,
    )
    assert calls.joined() == [] and calls.finish() == [] and kit.diagnostics.total == 0


@pytest.mark.parametrize(("others", "joins"), [(255, True), (256, False)])
def test_only_so_many_results_wait(others: int, joins: bool) -> None:
    """The oldest is given up for one more, and counted."""
    kit = new_kit()
    calls = Calls(kit, "claude-code")
    calls.end("a", 1.0, Result("x"), _HERE)
    for number in range(others):
        calls.end(f"lost-{number}", 1.0, Result("x"), _HERE)
    calls.begin("a", "Bash", {"command": "make"}, 2.0)
    assert bool(calls.joined()) is joins
    assert kit.diagnostics.total == (0 if joins else 1)


def test_an_id_used_again_is_another_call() -> None:
    """After the answer, or with other arguments; a call told again is the same one."""
    calls = Calls(new_kit(), "claude-code")
    run = {"command": "make"}

    def ended(at: float, text: str) -> tuple[str, float | None] | None:
        use = calls.end("a", at, Result(text), _HERE)
        return None if use is None else (use.id, use.duration)

    assert calls.begin("a", "Bash", run, 1.0)
    assert ended(2.0, "x") == ("a", 1.0)
    assert not calls.begin("a", "Bash", run, 1.0) and not calls.begin("a", "Bash", run, 2.0)
    assert calls.begin("a", "Bash", run, 2.5)
    assert ended(3.0, "x") == ("a#2", 0.5)
    assert calls.begin("a", "Bash", {"command": "ls"}, 3.0)
    assert calls.begin("a", "Bash", {"command": "pwd"}, 4.0)
    assert not calls.begin("a", "Bash", {"command": "pwd"}, 4.0)
    assert (ended(6.0, "x"), ended(7.0, "y"), ended(8.0, "z")) == (("a#4", 2.0), ("a#3", 4.0), None)
    assert calls.finish() == []


@pytest.mark.parametrize(
    ("name", "repeats"),
    [
        ("call_03adb944f11c457192d09349", True),
        ("3f2b8c1e-1b2c-4d3e-8f90-a1b2c3d4e5f6", True),
        ("call_a1b2c3d4e5f6", True),
        ("call_a1b2c3d4e5f", False),
        ("tool_0_read_multiple_files", False),
        ("REDACTED", False),
    ],
)
def test_an_id_that_looks_random_is_unique(name: str, repeats: bool) -> None:
    """The same call after its answer is a repetition; one with other arguments is another call."""
    calls = Calls(new_kit(), "claude-code")
    assert calls.begin(name, "Bash", {"command": "make"}, 1.0)
    assert calls.end(name, 2.0, Result("x"), _HERE) is not None
    assert calls.begin(name, "Bash", {"command": "make"}, 3.0) is not repeats
    assert calls.begin(name, "Bash", {"command": "ls"}, 4.0)


def test_calls_without_results_are_pending_in_order() -> None:
    """They are told at the time of the call, until they are given up."""
    calls = Calls(new_kit(), "claude-code")
    for at, name in enumerate("cab"):
        calls.begin(name, "Bash", {"command": "make"}, float(at))
    left = calls.unanswered()
    assert [(use.id, use.at, use.outcome, use.duration) for use in left] == [
        ("c", 0.0, "pending", None),
        ("a", 1.0, "pending", None),
        ("b", 2.0, "pending", None),
    ]
    assert calls.give_up() == left
    assert calls.unanswered() == []
    assert calls.end("a", 3.0, Result("late"), _HERE) is None


def test_a_settled_call_and_its_result_are_told_elsewhere() -> None:
    """A copied call counts neither as use nor as fault."""
    kit = new_kit()
    calls = Calls(kit, "codex")
    calls.settle("a")
    assert not calls.begin("a", "shell", {}, 1.0)
    assert calls.end("a", 2.0, Result("x"), _HERE) is None
    assert kit.diagnostics.total == 0


def test_time_that_runs_backwards_has_no_duration() -> None:
    """A duration is never negative; the log's own word wins."""
    calls = Calls(new_kit(), "claude-code")
    calls.begin("a", "Bash", {"command": "x"}, 10.0)
    back = calls.end("a", 9.0, Result("x"), _HERE)
    assert back is not None
    assert back.duration is None
    whole = calls.both("b", "Bash", {"command": "x"}, 1.0, 9.0, Result("x", duration=0.5), _HERE)
    assert whole.duration == 0.5


def test_the_log_tells_when_a_file_last_changed() -> None:
    """A read after an edit knows the edit's time; a failed edit changed nothing."""
    calls = Calls(new_kit(), "claude-code")

    def use(tool: str, at: float, *, error: bool = False) -> float | None:
        return calls.both("", tool, {"file_path": "a.py"}, None, at, Result("x", error=error), _HERE).modified

    assert [use("Read", 1.0), use("Edit", 2.0, error=True), use("Read", 3.0)] == [None, None, None]
    assert [use("Edit", 4.0), use("Read", 5.0), use("Edit", 6.0), use("Read", 7.0)] == [None, 4.0, 4.0, 6.0]


@pytest.mark.parametrize(
    ("project", "target", "relative"),
    [
        ("/home/me/app", "/home/me/app/src/x.py", "src/x.py"),
        ("/home/me/app", "/home/me/app", "."),
        ("/home/me/app", "/home/me/apple/x.py", "/home/me/apple/x.py"),
        ("/home/me/app", "./src/../x.py", "x.py"),
        ("C:\\work", "C:\\work\\src\\x.py", "src/x.py"),
        ("", "/a/b/", "/a/b"),
    ],
)
def test_targets_are_relative_to_the_project(project: str, target: str, relative: str) -> None:
    """With forward slashes, and only where they lie in it."""
    calls = Calls(new_kit(), "claude-code")
    calls.project = project
    assert calls.relative(target) == relative


def _answer_many(calls: Calls, count: int, begin: float = 0.0) -> None:
    """Answer calls whose ids a log may use again."""
    for number in range(count):
        at = begin + number
        assert calls.begin(f"call_{number}", "Bash", {"command": f"make {number % 7}"}, at)
        assert calls.end(f"call_{number}", at + 0.5, Result("x"), _HERE) is not None


def test_answered_calls_take_little() -> None:
    """A log may grow for days: of older calls only the ids are remembered."""
    calls = Calls(new_kit(), "claude-code")
    _answer_many(calls, 1_000)
    gc.collect()
    before = len(gc.get_objects())
    for number in range(1_000, 6_000):
        assert calls.begin(f"call_{number}", "Bash", {"command": f"make {number % 7}"}, float(number))
        assert calls.end(f"call_{number}", number + 0.5, Result("x"), _HERE) is not None
    gc.collect()
    assert len(gc.get_objects()) - before < 500
    assert not calls.begin("call_3", "Bash", {"command": "make 3"}, 3.2), "a repetition"
    assert calls.is_known("call_3") and calls.end("call_3", 3.5, Result("x"), _HERE) is None


def test_an_id_is_used_again_after_many_calls() -> None:
    """Whether its first call is still remembered or not, it is another one."""
    calls = Calls(new_kit(), "claude-code")
    _answer_many(calls, 3_000)
    _answer_many(calls, 3_000, 10_000.0)
    settled = Calls(new_kit(), "claude-code")
    settled.settle("call_0")
    assert not settled.begin("call_0", "Bash", {"command": "make"}, 5.0)
