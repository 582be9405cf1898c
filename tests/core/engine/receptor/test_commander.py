"""Windows and patterns."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.percept import Pattern
from core.engine.receptor.commander import CODES, EDIT, FAILED_SHELL, SHELL, Commander, Tally, Window
from core.events import ToolUse
from core.settings.receptor import CommanderSettings
from tests.core.engine.receptor.acts import spell


def commander(letters: str, gap: float = 5.0, **changes: float) -> Commander:
    made = Commander(CommanderSettings.parse(changes))
    for act in spell(letters, gap, start=0.0):
        if isinstance(act, ToolUse):
            made.update(act.at, act.action, act.outcome)
    return made


@pytest.mark.parametrize(
    ("letters", "pattern"),
    [
        ("", "stagnation"),
        ("eee", "stagnation"),
        ("eeee", "implementation"),
        ("rrgg", "wandering"),
        ("rrrrrrrbbb", "wandering"),
        ("rrrrrrmmmm", "exploration"),
        ("rrrrrrrrre", "exploration"),
        ("rrrrrreemm", "exploration"),
        ("rrrrrrrbbbe", "exploration"),
        ("rrrrreeeee", "implementation"),
        ("rrrrrreebb", "exploration"),
        ("bbbbb", "implementation"),
        ("efefe", "trial_error"),
        ("efef", "trial_error"),
        ("effb", "implementation"),
        ("efebebf", "trial_error"),
        ("efebebfeb", "implementation"),
        ("erfrerf", "trial_error"),
        ("efefeaaaa", "trial_error"),
        ("aaaeeeeeee", "delegation"),
        ("aaeeeeeeee", "implementation"),
        ("arrrrrrrrr", "wandering"),
        ("aaarrrrrrr", "delegation"),
        ("mmmmw", "exploration"),
        ("pppp????", "stagnation"),
    ],
)
def test_six_patterns(letters: str, pattern: Pattern) -> None:
    assert commander(letters).pattern == pattern


def test_failing_must_be_above_forty_percent() -> None:
    assert commander("efebebfbe").failure_rate == pytest.approx(0.4)
    assert commander("efebebfbe").pattern == "implementation"
    assert commander("efebebfe").pattern == "trial_error"


def test_windows_last_five_and_thirty_minutes() -> None:
    made = commander("eeee", gap=0.0)
    seen = []
    for wall in (300.0, 300.5, 1800.0, 1800.5):
        made.slide(wall)
        seen.append((made.events, made.pattern, made.medium_pattern))
    assert seen == [
        (4, "implementation", "implementation"),
        (0, "stagnation", "implementation"),
        (0, "stagnation", "implementation"),
        (0, "stagnation", "stagnation"),
    ]
    assert made.read(1800.5).session.events == 4


def test_the_change_between_windows_has_a_name_and_a_meaning() -> None:
    made = commander("rrrrrrrrrb" * 6, gap=10.0)
    assert made.read(590.0).delta == ""
    for number, act in enumerate(spell("efefef", start=0.0)):
        assert isinstance(act, ToolUse)
        made.update(900.0 + number * 5, act.action, act.outcome)
    behaviour = made.read(925.0)
    assert behaviour.delta == "exploration -> trial_error"
    assert behaviour.meaning == "It found something, but it is not working."
    assert made.read(1300.0).delta == "exploration -> stagnation"


def test_a_window_says_how_its_acts_divide() -> None:
    window = commander("rgefb").read(20.0).short
    assert dict(window.ratios) == {
        "file_read": 0.2,
        "search": 0.2,
        "file_edit": 0.2,
        "shell_exec": 0.4,
        "delegation": 0.0,
        "memory_read": 0.0,
        "memory_write": 0.0,
    }
    assert window.failure_rate == 0.5
    assert window.alternations == 1


def test_refused_and_unfinished_calls_are_not_counted() -> None:
    made = Commander(CommanderSettings())
    for outcome in ("rejected", "collateral", "pending"):
        for _ in range(5):
            made.update(0.0, "file_edit", outcome)
    assert made.events == 0


def test_memory_of_a_window_is_bounded() -> None:
    made = commander("eb" * 400, gap=0.1, most=100)
    assert made.events == 100
    state = made.dump()
    assert [len(window[0]) for window in state[:2]] == [100, 100]
    assert made.read(80.0).short.alternations == 99


def naive(acts: list[tuple[float, int]]) -> tuple[list[int], int]:
    counts = [0] * 8
    sides = []
    for _, code in acts:
        counts[code] += 1
        if code in (EDIT, SHELL, FAILED_SHELL):
            sides.append(code == EDIT)
    return counts, sum(one != other for one, other in pairwise(sides))


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(st.sampled_from((0.0, 1.0, 7.0, 40.0)), st.sampled_from(sorted(set(CODES.values())))), max_size=60
    ),
    st.integers(3, 20),
)
def test_counting_as_it_goes_equals_counting_again(rolls: list[tuple[float, int]], most: int) -> None:
    window, tally = Window(50.0, most), Tally()
    wall, acts = 0.0, []
    for gap, code in rolls:
        wall += gap
        acts.append((wall, code))
        window.add(wall, code)
        tally.add(code)
        inside = [act for act in acts if act[0] >= wall - 50.0][-most:]
        assert (window.counts, window.alternations) == naive(inside)
        assert window.total == len(inside)
        assert (tally.counts, tally.alternations) == naive(acts)
        later = window.ahead(wall + 30.0)
        assert later.total == len([act for act in inside if act[0] >= wall - 20.0])
        assert window.total == len(inside)
