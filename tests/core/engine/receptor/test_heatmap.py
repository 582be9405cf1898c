"""Where the work is, and when it moves."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.receptor.heatmap import Heatmap, components
from core.engine.receptor.readings import HeatmapReading, NodeReading
from core.events import ToolUse
from core.settings.receptor import HeatmapSettings
from tests.core.engine.receptor.acts import START, touch


def heatmap(**changes: float) -> Heatmap:
    return Heatmap(HeatmapSettings.parse(changes))


def visit(made: Heatmap, *paths: str, now: float = 0.0) -> list[bool]:
    return [made.update(touch(path), now, "exploring") for path in paths]


def test_a_leaf_has_six_dimensions() -> None:
    made = heatmap()
    made.update(touch("src/a.py", START), 0.0, "exploring")
    made.update(touch("src/a.py", START + 1, "file_read", "failure"), 0.0, "exploring")
    edit = ToolUse(at=START + 2, action="file_edit", targets=("src/a.py", "src/b.py"), modified=START - 9)
    made.update(edit, 0.0, "deep_work")
    made.update(touch("src/a.py", START + 3, "search"), 0.0, "stuck")
    (leaf, other) = made.read(0.0).top
    assert (leaf.path, leaf.count, leaf.opened, leaf.modified) == ("src/a.py", 4, 1, 1)
    assert (leaf.last_modified, leaf.last_access, leaf.last_state) == (START - 9, START + 3, "stuck")
    assert (other.count, other.modified, other.last_modified, other.last_state) == (1, 1, None, "deep_work")


def test_heat_fades_with_work_time() -> None:
    made = heatmap()
    visit(made, "a", "a", "a")
    assert made.read(0.0).top[0].heat == 3.0
    assert made.read(7200.0).top[0].heat == pytest.approx(3.0 * exp(-1))
    visit(made, "a", now=7200.0)
    assert made.read(7200.0).top[0].heat == pytest.approx(3.0 * exp(-1) + 1)
    assert made.read(7200.0).top[0].count == 4


def test_heat_survives_very_long_sessions() -> None:
    made = heatmap(fade=60.0)
    for hour in range(1000):
        visit(made, "steady", now=hour * 60.0)
    visit(made, "late", now=60_000.0)
    leaves = {leaf.path: leaf.heat for leaf in made.read(60_000.0).top}
    assert leaves["late"] == 1.0
    assert leaves["steady"] == pytest.approx(exp(-1) / (1 - exp(-1)))


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("src/loader/feed.py", ["src", "loader", "feed.py"]),
        ("README.md", ["README.md"]),
        ("/etc/hosts", ["/", "etc", "hosts"]),
        ("src//x/", ["src", "x"]),
        ("/", ["/"]),
        (".", ["."]),
    ],
)
def test_paths_are_cut_by_components(path: str, parts: list[str]) -> None:
    assert components(path) == tuple(parts)


def test_parents_sum_their_children() -> None:
    made = heatmap()
    visit(made, *["src/loader/feed.py"] * 15, *["src/loader/runner.py"] * 12, *["src/out/x"] * 8, *["src/cfg/y"] * 6)
    (src,) = made.read(0.0).tree
    assert (src.name, src.count, src.heat, src.leaf) == ("src", 41, 41.0, None)
    assert [(child.name, child.count) for child in src.children] == [("loader", 27), ("out", 8), ("cfg", 6)]
    assert [(leaf.path, leaf.count) for leaf in src.children[0].children] == [
        ("src/loader/feed.py", 15),
        ("src/loader/runner.py", 12),
    ]


def test_a_folder_may_be_a_target_itself() -> None:
    made = heatmap()
    visit(made, "src", "src/a.py", "/", "/etc")
    src, root = sorted(made.read(0.0).tree, key=lambda node: node.name, reverse=True)
    assert (src.count, src.leaf and src.leaf.count, len(src.children)) == (2, 1, 1)
    assert (root.path, root.count, root.children[0].path) == ("/", 2, "/etc")


def test_more_than_half_of_five_new_is_a_shift() -> None:
    made = heatmap()
    assert not any(visit(made, *"abcde", *"abcde", *"ab"))
    assert visit(made, *"xxx", now=1.0) == [False, False, False]
    assert visit(made, *"yyy", now=1.0) == [False, False, False]
    assert visit(made, *"zzz", now=1.0) == [False, True, False]
    assert made.shifts == 1
    assert sorted(made.read(1.0).context) == ["a", "b", "x", "y", "z"]
    assert not any(visit(made, *"xyzab", now=1.0))


def test_one_event_can_shift_the_context_and_only_once() -> None:
    made = heatmap()
    visit(made, *"abcde")
    many = ToolUse(at=START, action="file_edit", targets=("u", "v", "w"))
    assert made.update(many, 10.0, "exploring")
    assert not made.update(many, 10.0, "exploring")


def test_going_back_and_forth_between_known_paths_is_no_shift() -> None:
    made = heatmap()
    assert not any(visit(made, *"abcdexab" * 20))


def test_the_share_of_new_paths_is_a_setting() -> None:
    made = heatmap(shift=0.2)
    visit(made, *"abcde")
    assert visit(made, *"xxyy", now=1.0) == [False, False, True, False]


def test_a_hundred_thousand_paths_stay_in_bounded_memory() -> None:
    made = heatmap()
    for number in range(100_000):
        made.update(touch(f"src/p{number % 97}/f{number}.py"), number * 0.5, "exploring")
        if number % 100 == 0:
            made.update(touch("src/home.py"), number * 0.5, "exploring")
    reading = made.read(50_000.0)
    assert 300 < reading.leaves <= 512
    assert len(made.dump()[1]) == reading.leaves
    assert reading.top[0].path == "src/home.py"
    assert len(reading.top) == 40
    assert nodes(reading) <= 40 * 3
    (src,) = reading.tree
    assert src.count == sum(leaf[0] for leaf in made.dump()[1])


def nodes(reading: HeatmapReading) -> int:
    def below(node: NodeReading) -> int:
        return 1 + sum(below(child) for child in node.children)

    return sum(below(node) for node in reading.tree)


def test_one_call_with_very_many_targets_is_cut() -> None:
    made = heatmap()
    made.update(ToolUse(at=START, action="search", targets=tuple(f"f{n}" for n in range(500))), 0.0, "idle")
    assert made.read(0.0).leaves == 32


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from((0.0, 1.0, 600.0)), st.sampled_from("abcdefghij")), max_size=80),
    st.integers(0, 40),
)
def test_the_hottest_are_kept_as_if_sorted_each_time(rolls: list[tuple[float, str]], cut: int) -> None:
    made = heatmap()
    now = 0.0
    heat: dict[str, float] = {}
    for number, (gap, path) in enumerate(rolls):
        now += gap
        heat = {name: value * exp(-gap / 7200.0) for name, value in heat.items()}
        heat[path] = heat.get(path, 0.0) + 1.0
        visit(made, path, now=now)
        if number == cut:
            again = heatmap()
            again.load(made.dump())
            made = again
    best = sorted(heat.values(), reverse=True)
    top = made.dump()[2]
    assert sorted((heat[path] for path in top), reverse=True) == pytest.approx(best[:5])
    assert [leaf.heat for leaf in made.read(now).top] == pytest.approx(best)


def test_what_was_read_holds_until_something_changes() -> None:
    made = heatmap()
    visit(made, "a", "b")
    empty = heatmap().dump()
    seen = [made.read(0.0)]
    assert made.read(0.0) is seen[0]

    def renewed(now: float) -> bool:
        """Whether another reading comes, equal to one that is made from the start."""
        seen.append(made.read(now))
        again = heatmap()
        again.load(made.dump())
        return seen[-1] is not seen[-2] and seen[-1] == again.read(now)

    assert renewed(1.0)
    visit(made, "a", now=1.0)
    assert renewed(1.0)
    made.see_changed("a", START + 9)
    assert renewed(1.0)
    made.load(empty)
    assert renewed(1.0) and not seen[-1].top
