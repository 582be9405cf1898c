"""The path tree: rows, sorting, folding, filtering, and a place that is kept while it updates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.widgets import Input

from core.engine.receptor.heatmap import grow
from core.engine.receptor.readings import NodeReading, PathReading
from core.events import Event, SessionStart, ToolUse
from core.report.formatting import age
from core.timeline.timeline import Timeline
from tests.tui.panel_app import SIZES, check, text, view_at
from tests.tui.screen_app import Stage, recorded, recording_of
from tui.draw.line import path_end
from tui.widgets.main.paths import ORDERS, PathTree, parent_folders, path_rows

START = 1_760_000_000.0


def leaf(path: str, heat: float, *, opened: int = 0, modified: int = 0, at: float = 0.0) -> PathReading:
    return PathReading(
        path=path,
        count=opened + modified,
        opened=opened,
        modified=modified,
        last_modified=None,
        last_access=at,
        last_state="exploring",
        heat=heat,
    )


def tree(*leaves: PathReading) -> tuple[NodeReading, ...]:
    return grow(sorted(leaves, key=lambda one: -one.heat))


LEAVES = (
    leaf("src/loader/feed.py", 5.0, opened=9, modified=1, at=30.0),
    leaf("src/loader/runner.py", 3.0, opened=2, modified=6, at=10.0),
    leaf("src/config/base.py", 1.0, opened=1, at=50.0),
    leaf("README.md", 0.5, opened=1, at=5.0),
)


def names(**given: object) -> list[str]:
    return [row.name for row in path_rows(tree(*LEAVES), **given)]  # type: ignore[arg-type]


def test_hottest_first_and_single_folders_joined() -> None:
    rows = path_rows(tree(*LEAVES))
    assert [f"{row.guide}{row.name}" for row in rows] == [
        "src",
        "├ loader",
        "│ ├ feed.py",
        "│ └ runner.py",
        "└ config/base.py",
        "README.md",
    ]
    assert (rows[0].visits, rows[0].opened, rows[0].modified) == (19, 12, 7)


def test_order_by_recency_and_by_edits() -> None:
    assert names(order="recency") == ["src", "config/base.py", "loader", "feed.py", "runner.py", "README.md"]
    assert names(order="edits") == ["src", "loader", "runner.py", "feed.py", "config/base.py", "README.md"]


def test_folded_folder_hides_what_is_below() -> None:
    rows = path_rows(tree(*LEAVES), folded={"src/loader"})
    assert [row.name for row in rows] == ["src", "loader", "config/base.py", "README.md"]
    assert rows[1].folded and rows[1].folder


def test_search_opens_folds_and_keeps_only_what_fits() -> None:
    assert names(folded={"src", "src/loader"}, sought="RUNNER") == ["src", "loader", "runner.py"]
    assert names(sought="nowhere") == []


def test_folders_of_a_path_nearest_first() -> None:
    assert list(parent_folders("src/a/b.py")) == ["src/a", "src"]
    assert list(parent_folders("/etc/hosts")) == ["/etc", "/"]


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=4), st.floats(0.01, 9, allow_nan=False)
        ),
        min_size=1,
        max_size=12,
        unique_by=lambda pair: tuple(pair[0]),
    ),
    st.sampled_from(ORDERS),
)
@settings(max_examples=80)
def test_every_leaf_has_one_row_in_any_order(paths: list[tuple[list[str], float]], order: str) -> None:
    leaves = [leaf("/".join(parts), heat) for parts, heat in paths]
    rows = path_rows(tree(*leaves), order)  # type: ignore[arg-type]
    seen = [row.path for row in rows]
    assert len(seen) == len(set(seen))
    assert {one.path for one in leaves} <= set(seen)


@pytest.mark.parametrize(
    ("name", "room", "made"),
    [
        ("src/loader/feed.py", 30, "src/loader/feed.py"),
        ("src/loader/feed.py", 12, "…/feed.py"),
        ("a_very_long_name.py", 9, "a_…ame.py"),
    ],
)
def test_shortened_keeps_the_end(name: str, room: int, made: str) -> None:
    assert path_end(name, room) == made


@pytest.mark.parametrize(("seconds", "said"), [(0, "0s"), (59.9, "59s"), (60, "1m"), (7200, "2h"), (200_000, "2d")])
def test_age_in_four_cells(seconds: float, said: str) -> None:
    assert age(seconds) == said


@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_clipped(size: tuple[int, int]) -> None:
    panel = PathTree()
    view = view_at(recorded(), 600)
    panel._arrange(view)
    check(panel.lines(view, *size), *size)


def touch(path: str, at: float, action: str = "file_read") -> ToolUse:
    return ToolUse(at=START + at, action=action, tool="Read", targets=(path,))  # type: ignore[arg-type]


def walk() -> Timeline:
    """First one folder, then another that grows hotter."""
    events: list[Event] = [SessionStart(at=START, session="s", tool="claude-code")]
    events += [touch(f"src/old{number}.py", number) for number in range(6)]
    events += [touch(f"lib/new{number % 4}.py", 10 + number, "file_edit") for number in range(40)]
    return recording_of(events)


async def test_keeps_its_place_while_it_updates() -> None:
    panel = PathTree()
    app = Stage(panel, walk(), 7)
    async with app.run_test(size=(60, 8)) as pilot:
        await pilot.press("down", "down", "down")
        cursor = panel.cursor
        line = next(y for y, words in enumerate(app.inside(panel).splitlines()) if cursor[4:] in words)
        app.show(47)
        await pilot.pause()
        assert panel.cursor == cursor
        assert cursor[4:] in app.inside(panel).splitlines()[line]
        assert [row.name for row in panel.rows][:1] == ["lib"]


async def test_without_a_cursor_it_stays_at_the_top() -> None:
    panel = PathTree()
    app = Stage(panel, walk(), 7)
    async with app.run_test(size=(60, 8)) as pilot:
        app.show(47)
        await pilot.pause()
        assert "lib" in app.inside(panel).splitlines()[0]


async def test_a_path_that_goes_leaves_the_cursor_near() -> None:
    panel = PathTree()
    app = Stage(panel, walk(), 47)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("pagedown")
        assert panel.cursor.startswith("src/")
        app.show(1)
        await pilot.pause()
        assert panel.cursor == ""
        app.show(47)
        await pilot.press("up")
        assert panel.cursor == "lib"


async def test_every_key() -> None:
    panel = PathTree()
    app = Stage(panel, walk(), 47)
    async with app.run_test(size=(60, 14)) as pilot:
        await pilot.press("up")
        assert panel.cursor == "lib"
        await pilot.press("o")
        assert "▸ lib" in app.inside(panel)
        await pilot.press("o")
        assert "▾ lib" in app.inside(panel)
        await pilot.press("v")
        assert "by recency" in str(panel.border_subtitle)
        await pilot.press("v", "v")
        assert "by heat" in str(panel.border_subtitle)
        await pilot.press("up", "down", "enter")
        assert app.paths == [panel.rows[1].path]
        await pilot.press("pageup")
        assert panel.cursor == panel.rows[0].path
        await pilot.press("right")
        assert app.stepped == [1]


async def test_until_one_moves_the_bar_is_on_the_first_path_in_sight() -> None:
    panel = PathTree()
    app = Stage(panel, walk(), 47)
    async with app.run_test(size=(60, 14)) as pilot:
        assert panel.has_focus and panel.rows[0].folder
        await pilot.press("enter")
        assert app.paths == [panel.rows[0].path]
        await pilot.press("down", "enter")
        assert app.paths[1:] == [panel.rows[1].path]


async def test_filter_typed_kept_and_given_up() -> None:
    panel = PathTree()
    app = Stage(panel, walk(), 47)
    async with app.run_test(size=(60, 14)) as pilot:
        await pilot.press("slash", *"old3")
        assert [row.name for row in panel.rows] == ["src", "old3.py"]
        await pilot.press("enter")
        assert panel.has_focus and panel.sought == "old3"
        await pilot.press("escape")
        assert panel.sought == "" and not panel.query_one(Input).display
        await pilot.press("slash", *"zzz")
        assert "no path contains" in app.inside(panel)


async def test_markup_in_a_filter_stays_text() -> None:
    panel = PathTree()
    app = Stage(panel, walk(), 47)
    async with app.run_test(size=(60, 14)) as pilot:
        await pilot.press("slash", "[", "b", "]")
        assert "“[b]”" in app.inside(panel)


async def test_mouse_moves_folds_and_opens() -> None:
    panel = PathTree()
    app = Stage(panel, walk(), 47)
    async with app.run_test(size=(60, 14)) as pilot:
        await pilot.click(panel, offset=(8, 2))
        assert panel.cursor == panel.rows[1].path
        await pilot.click(panel, offset=(8, 3), times=2)
        assert app.paths == [panel.rows[2].path]
        await pilot.click(panel, offset=(2, 1))
        assert panel.rows[0].folded
        top = panel.cursor
        await pilot._post_mouse_events([_wheel()], panel, button=0)
        assert panel.cursor != top


def _wheel() -> type:
    from textual.events import MouseScrollDown

    return MouseScrollDown


async def test_empty() -> None:
    panel = PathTree()
    app = Stage(panel, recording_of([SessionStart(at=START, session="s", tool="t")]))
    async with app.run_test(size=(60, 14)) as pilot:
        assert "no path touched yet" in app.inside(panel)
        await pilot.press("down", "x", "enter")
        assert app.paths == [""]


def test_details_name_the_columns() -> None:
    panel = PathTree()
    view = view_at(recorded(), 600)
    panel.set_reactive(PathTree.detailed, True)
    panel._arrange(view)
    shown = text(panel.lines(view, 116, 30))
    assert "path (visits)" in shown and "last state" in shown and "heat" in shown
