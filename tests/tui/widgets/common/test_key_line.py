"""The line of keys: whatever is shown is shown whole, and help is always there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App

from tests.tui.conftest import until
from tests.tui.screen_app import recorded
from tests.tui.still_app import Observatory
from tui.screens.help import HelpScreen
from tui.widgets.common.key_line import KeyLine, fitting_keys


def _end(line: KeyLine) -> int:
    """Where the last key ends."""
    return sum(key.width + 1 for key in line.keys) - 1


@given(st.lists(st.integers(1, 20), max_size=12), st.integers(0, 120))
def test_what_fits_is_as_much_as_can_be(widths: list[int], room: int) -> None:
    left = fitting_keys(widths, room)
    assert left == list(range(len(left)))
    assert sum(widths[place] + 1 for place in left) - 1 <= max(room, -1)
    assert len(left) == len(widths) or sum(width + 1 for width in widths[: len(left) + 1]) - 1 > room


def test_the_needed_one_stays_until_it_is_alone() -> None:
    assert fitting_keys([5, 5, 5, 6], 12, [3]) == [0, 3]
    assert fitting_keys([5, 5, 5, 6], 6, [3]) == [3]
    assert fitting_keys([5, 6], 3, [1]) == []
    assert fitting_keys([5, 5, 5, 6], 17, [3], [0]) == [1, 3]
    assert fitting_keys([5, 5, 5, 6], 18, [3], [0]) == [1, 2, 3]


async def test_how_to_leave_is_shown_on_the_main_screen() -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(80, 24)) as pilot:
        line = app.screen.query_one(KeyLine)
        await until(pilot, lambda: bool(line.keys))
        assert [key.display for key in line.keys] == ["space", *"ncetmf?q"]
        await pilot.resize_terminal(60, 15)
        await until(pilot, lambda: _end(line) <= 60)
        assert [key.description for key in line.keys][-2:] == ["help", "quit"]


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}")
@pytest.mark.parametrize("screen", ["", "transcript", "mind", "governor", "tuning", "help"])
async def test_keys_are_whole_on_every_screen(screen: str, size: tuple[int, int]) -> None:
    app = Observatory(recorded(60, 1), 40, screen=screen)
    async with app.run_test(size=size) as pilot:

        def whole() -> bool:
            line = app.screen.query_one(KeyLine)
            helped = any(key.description == "help" for key in line.keys)
            return bool(line.keys) and _end(line) <= size[0] and (helped or screen == "help")

        await until(pilot, whole)
        written = [(key.display, key.description) for key in app.screen.query_one(KeyLine).keys]
        assert len(set(written)) == len(written)


@pytest.mark.parametrize("panel", range(7))
async def test_what_a_key_does_is_written_small_in_every_panel(panel: int) -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(200, 60)) as pilot:
        line = app.screen.query_one(KeyLine)
        await until(pilot, lambda: bool(line.keys))
        await pilot.press(str(panel))
        await pilot.pause()
        assert [key.description for key in line.keys if key.description != key.description.lower()] == []


@pytest.mark.parametrize(
    ("screen", "key", "named"),
    [
        ("transcript", "slash", [("⏎", "search"), ("esc", "clear")]),
        ("tuning", "slash", [("⏎", "to the list"), ("esc", "close")]),
        ("tuning", "enter", [("⏎", "accept"), ("esc", "close")]),
        ("branches", "s", [("⏎", "preview"), ("esc", "close")]),
    ],
)
async def test_keys_of_a_line_one_types_in_are_named(screen: str, key: str, named: list[tuple[str, str]]) -> None:
    app = Observatory(recorded(60, 1), 40, screen=screen)
    async with app.run_test(size=(80, 24)) as pilot:
        line = app.screen.query_one(KeyLine)
        await until(pilot, lambda: bool(line.keys))
        await pilot.press(key)
        await until(pilot, lambda: [(shown.display, shown.description) for shown in line.keys] == named)


async def test_keys_make_room_for_the_bench_beside_and_when_the_terminal_shrinks() -> None:
    app = Observatory(recorded(60, 1), 40)

    def within(edge: int) -> bool:
        line = app.screen.query_one(KeyLine)
        return bool(line.keys) and _end(line) <= edge

    async with app.run_test(size=(160, 45)) as pilot:
        await pilot.press("t", "z")
        await until(pilot, lambda: bool(app.screen.query(".-side")))
        await until(pilot, lambda: 0 < app.screen.query_one(".-side").region.x < 160)
        await until(pilot, lambda: within(app.screen.query_one(".-side").region.x))
        await pilot.press("escape")
        await pilot.press("escape")
        await until(pilot, lambda: not app.screen.query(".-side"))
        await pilot.resize_terminal(60, 24)
        await until(pilot, lambda: app.size.width == 60 and within(60))


async def test_the_same_keys_are_not_made_again_and_others_are() -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(120, 40)) as pilot:
        line = app.screen.query_one(KeyLine)
        await until(pilot, lambda: bool(line.keys))
        before = line.keys
        app.screen.refresh_bindings()
        await pilot.pause()
        assert line.keys is before
        app.set_keymap({"show.help": "f9"})
        app.screen.refresh_bindings()
        await until(pilot, lambda: line.keys is not before)
        assert any((key.display, key.description) == ("f9", "help") for key in line.keys)


@pytest.mark.parametrize(("width", "more"), [(120, False), (200, True)])
async def test_a_wide_screen_shows_more_keys(width: int, more: bool) -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(width, 60)) as pilot:
        line = app.screen.query_one(KeyLine)
        await until(pilot, lambda: bool(line.keys))
        shown = [key.description for key in line.keys]
        assert "model" in shown and ("resume" in shown) is more
        assert len(shown) == len(set(shown))


async def test_a_key_below_the_mouse_is_lifted_tells_what_it_does_and_can_be_clicked() -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(120, 40)) as pilot:
        line = app.screen.query_one(KeyLine)
        await until(pilot, lambda: bool(line.keys))
        first = line.keys[0]
        helped = next(place for place, key in enumerate(line.keys) if key.description == "help")
        start = sum(key.width + 1 for key in line.keys[:helped])
        assert line.key_at(first.width - 1) is first
        assert line.key_at(first.width) is None and line.key_at(first.width + 1) is line.keys[1]
        assert line.key_at(-1) is None and line.key_at(_end(line)) is None
        plain = line.render_line(0)
        await pilot.hover(KeyLine, offset=(start, 0))
        await until(pilot, lambda: line.tooltip == line.keys[helped].tooltip)
        lifted = line.render_line(0)
        assert lifted.text == plain.text and lifted != plain
        assert app.screen.styles.pointer == "default" and line.styles.pointer == "pointer"
        await pilot.hover(KeyLine, offset=(first.width, 0))
        await until(pilot, lambda: line.tooltip is None)
        assert line.render_line(0) == plain
        await pilot.mouse_down(KeyLine, offset=(start, 0))
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))


async def test_the_line_is_drawn_in_the_colours_of_another_theme() -> None:
    app = Observatory(recorded(60, 1), 40)
    async with app.run_test(size=(120, 40)) as pilot:
        line = app.screen.query_one(KeyLine)
        await until(pilot, lambda: bool(line.keys))
        before = line.render_line(0)
        app.theme = "textual-light"
        await until(pilot, lambda: line.render_line(0) != before)
        assert line.render_line(0).text == before.text


async def test_a_background_build_is_shown_if_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status = tmp_path / "engine.json"
    status.write_text('{"state": "failed", "why": "there is no C compiler (cc)"}')
    monkeypatch.setenv("NOOSCOPE_BUILD", str(status))
    app = App[None]()
    async with app.run_test(size=(100, 3)) as pilot:
        line = KeyLine()
        await app.mount(line)
        await pilot.pause()
        assert "not compiled: there is no C compiler (cc)" in line.render_line(0).text
        status.write_text('{"state": "ready", "why": ""}')
        line._read_build()
        assert "engine compiled, restart to use it" in line.render_line(0).text
