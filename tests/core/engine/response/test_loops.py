"""Loops and their innocent look-alikes: what each sequence is judged to be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.engine.response.loops import Loop, LoopDetector
from core.events import Event, ToolUse
from core.settings.loops import LoopSettings
from tests.core.engine.response.loop_events import (
    edit,
    failure,
    grep,
    poll,
    prompt,
    read,
    shell,
    timed,
    turn,
    use,
)

PLAN = use("TodoWrite", "next", "noted", action="plan")
LONG = "x" * 300


def told(events: Sequence[Event], settings: LoopSettings | None = None) -> list[Loop]:
    detector = LoopDetector(settings or LoopSettings())
    return [loop for event in timed(events) if (loop := detector.update(event))]


def rejected(said: str) -> ToolUse:
    return shell(said, "hook denied this", outcome="rejected")


LOOPS: dict[str, tuple[str, int, Sequence[Event]]] = {
    "one command failing the same way": ("exact", 1, [failure("pytest -q", "1 failed")] * 4),
    "one file read again and again": ("exact", 1, [read("feed.py", "text")] * 4),
    "one search that finds nothing, in words": (
        "exact",
        1,
        [grep("def load", "No matches found", outcome="empty")] * 4,
    ),
    "the same edit refused": ("exact", 1, [edit("a.py", "x", "y", outcome="failure", result="no match")] * 4),
    "a refused call tried again": ("exact", 1, [rejected("rm -rf build")] * 4),
    "two calls in turn": ("exact", 2, [read("a.py", "a"), shell("ls src", "a.py")] * 3),
    "three calls in turn, plans between": (
        "exact",
        3,
        [read("a.py", "a"), PLAN, read("b.py", "b"), failure("make", "error"), PLAN] * 3,
    ),
    "a round that holds the same call twice": (
        "exact",
        3,
        [read("a.py", "a"), read("a.py", "a"), read("b.py", "b")] * 3,
    ),
    "six calls in turn": ("exact", 6, [read(f"{name}.py", name) for name in "abcdef"] * 3),
    "a silent step inside a round": ("exact", 2, [shell("python gen.py"), failure("make", "error")] * 3),
    "a test failing with other timings": (
        "failing",
        1,
        [failure(f"pytest --seed {n}", f"1 failed in {n} s", shape="pytest --seed #") for n in range(5)],
    ),
    "a command failing between looks": (
        "failing",
        1,
        [
            event
            for n in range(5)
            for event in (failure("cargo build", f"error {n}"), read("main.rs", f"part {n}", str(n)))
        ],
    ),
    "a command failing between failed edits": (
        "failing",
        1,
        [
            event
            for n in range(5)
            for event in (
                failure("npm test", f"run {n}"),
                edit(f"{n}.js", "x", "y", outcome="failure", result=f"no match {n}"),
            )
        ],
    ),
    "an edit made and undone": (
        "oscillation",
        2,
        [edit("a.py", "old", "new"), edit("a.py", "new", "old")] * 2,
    ),
    "an edit made and undone, tested between": (
        "oscillation",
        2,
        [
            edit("a.py", "old", "new"),
            failure("pytest", "1 failed"),
            edit("a.py", "new", "old"),
            failure("pytest", "2 failed"),
        ]
        * 2,
    ),
    "a file written to and fro": (
        "oscillation",
        2,
        [edit("conf.toml", "", text) for text in ("one", "two", "one", "two", "one")],
    ),
    "an edit undone out of sight": (
        "oscillation",
        2,
        [
            event
            for n in range(4)
            for event in (edit("a.py", "old", "new"), shell("git checkout a.py", f"Updated, {n}"))
        ],
    ),
    "other quoted words, the same answer": (
        "near",
        1,
        [shell(f'python -c "try {n}"', LONG, shape='python -c "#"') for n in range(5)],
    ),
    "other lines asked for, the same lines given": (
        "near",
        1,
        [read("short.py", "whole file", f"{n}-{n + 50}") for n in range(5)],
    ),
    "edits of one file that do not fit": (
        "near",
        1,
        [edit("a.py", f"x{n}", f"y{n}", outcome="failure", result=f"no match for {n}") for n in range(8)],
    ),
    "nearly the same two calls in turn": (
        "near",
        2,
        [
            event
            for n in range(3)
            for event in (
                edit("a.py", f"x{n}", f"y{n}", outcome="failure", result=f"no match for {n}"),
                read("a.py", "text"),
            )
        ],
    ),
    "answers without any call": ("burn", 0, [turn(60_000, 100_000)] * 12),
    "answers that only fail in new ways": (
        "storm",
        0,
        [
            event
            for n in range(10)
            for event in (turn(20_000), failure(f"tool{n} --go", f"tool{n}: command not found"))
        ],
    ),
    "a program that says the same to a silent agent": (
        "burn",
        0,
        [event for _ in range(12) for event in (turn(), prompt("please go on"))],
    ),
    "fifteen hundred dear polls": (
        "burn",
        0,
        [event for _ in range(1_535) for event in (turn(300, 200_000), poll("still running"))],
    ),
}

INNOCENT: dict[str, Sequence[Event]] = {
    "polling with empty output": [event for _ in range(60) for event in (turn(200, 60_000), poll())],
    "polling with the same output": [poll("still running")] * 60,
    "polling where no tokens are told": [event for _ in range(200) for event in (turn(), poll())],
    "a silent command again": [shell("test -e done.txt")] * 30,
    "a blank log looked at again": [read("run.log", "")] * 30,
    "sleeping before a check that fails": [
        failure(f"sleep 5 && curl -f host{n}", "refused", purpose="wait", shape="sleep # && curl")
        for n in range(20)
    ],
    "moving many files": [
        shell(f"mv src/{n}.py lib/{n}.py", "", targets=(f"src/{n}.py",)) for n in range(40)
    ],
    "moving many files with blanks in their names": [
        shell(f'mv "part {n}" "lib/part {n}"', "[finished with exit code 0]", shape='mv "#" "#"')
        for n in range(40)
    ],
    "editing many files alike": [edit(f"src/{n}.py", "import a", "import b") for n in range(40)],
    "editing one file in many places": [
        edit("big.py", f"x{n}", f"y{n}", result="The file big.py has been updated") for n in range(40)
    ],
    "tests rerun after edits, passing": [
        event
        for n in range(12)
        for event in (edit("a.py", f"x{n}", f"y{n}"), shell("pytest", "12 passed", purpose="test"))
    ],
    "reading a file range by range": [
        read("big.py", f"lines {n}", f"{n * 50}-{n * 50 + 50}") for n in range(40)
    ],
    "searching for one name after another": [
        grep(f"name{n}", "No matches found", outcome="empty") for n in range(20)
    ],
    "ticking off a plan": [PLAN] * 30,
    "undoing an edit once": [
        edit("a.py", "old", "new"),
        failure("pytest", "1 failed"),
        edit("a.py", "new", "old"),
        shell("pytest", "12 passed", purpose="test"),
    ],
    "the same check three times": [shell("git status", "clean")] * 3,
    "looking at the state between edits": [
        event for n in range(12) for event in (edit("a.py", f"x{n}", f"y{n}"), shell("git status", "M a.py"))
    ],
    "a call cancelled with the ones beside it": [shell("make", "sibling failed", outcome="collateral")] * 10,
    "calls without a result": [shell("make")] * 2 + [use("finish", "", outcome="pending")] * 20,
    "the person asks for the same again": [
        event
        for n in range(4)
        for event in (prompt(f"once more, {n}"), failure("npm start", "port in use"), read("a.js", "a"))
    ],
    "many silent changes by script": [
        shell(f'python -c "change {n}"', "", shape='python -c "#"') for n in range(30)
    ],
    "many requests with a short answer": [
        shell(f'curl -d "row {n}" localhost', '{"ok": true}', shape='curl -d "#" localhost')
        for n in range(30)
    ],
    "different failures on the way": [
        event
        for n in range(9)
        for event in (turn(30_000), failure(f"tool{n}", "not found"), read("a.py", f"lines {n}", str(n)))
    ],
    "long answers that each bring something": [
        event for n in range(30) for event in (turn(90_000), read("a.py", f"lines {n}", str(n)))
    ],
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_told_by_its_detector(name: str) -> None:
    detector, period, events = LOOPS[name]
    loops = told(events)
    assert loops, "not recognised"
    assert {(loop.detector, loop.period) for loop in loops} == {(detector, period)}
    assert loops[0].intensity >= 0.5


@pytest.mark.parametrize("name", INNOCENT)
def test_an_innocent_look_alike_is_not(name: str) -> None:
    assert told(INNOCENT[name]) == []


def test_the_table_is_large_and_half_of_it_innocent() -> None:
    assert len(LOOPS) >= 12
    assert len(INNOCENT) >= 12


@pytest.mark.parametrize("name", LOOPS)
def test_one_round_less_is_no_loop_yet(name: str) -> None:
    """The loop is told with the event that completes it, not before."""
    _, _, events = LOOPS[name]
    detector = LoopDetector(LoopSettings())
    spoken = [detector.update(event) is not None for event in timed(events)]
    first = spoken.index(True)
    assert told(events[:first]) == []
    assert len(told(events[: first + 1])) == 1


def test_the_words_say_who_and_how_often() -> None:
    said = [told(LOOPS[name][2])[0].what for name in LOOPS]
    assert said[0] == "pytest failed the same way 4 times"
    assert said[1] == "Read on feed.py brought the same 4 times"
    assert "a.py edited back and forth 3 times" in said
    assert "pytest failed 5 times, nothing edited between" in said
    assert "the same 2 calls 3 times round, at ls" in said
    assert all(len(words) < 80 for words in said)
