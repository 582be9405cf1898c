"""Pictures of the path tree and of every further screen, small and large, by night and by day."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.screen_app import Stage, recorded
from tui.screens.board import Board
from tui.screens.help import HelpScreen
from tui.screens.model import AffectScreen, GovernorScreen, MindScreen
from tui.screens.transcript import TranscriptScreen
from tui.widgets.main.paths import PathTree

Compare = Callable[..., bool]
SCREENS: dict[str, type[Board]] = {
    "transcript": TranscriptScreen,
    "mind": MindScreen,
    "governor": GovernorScreen,
    "affect": AffectScreen,
    "help": HelpScreen,
}
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}


@pytest.mark.parametrize("theme", ["nocturne", "daylight"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SCREENS)
def test_screen(snap_compare: Compare, name: str, size: str, theme: str) -> None:
    app = Stage(SCREENS[name](), recorded(), 420, theme=theme)
    assert snap_compare(app, terminal_size=SIZES[size])


@pytest.mark.parametrize("name", SCREENS)
def test_before_the_first_event(snap_compare: Compare, name: str) -> None:
    assert snap_compare(Stage(SCREENS[name]()), terminal_size=SIZES["80x24"])


@pytest.mark.parametrize("name", ["mind", "governor"])
def test_a_card_alone(snap_compare: Compare, name: str) -> None:
    app = Stage(SCREENS[name](), recorded(), 420)
    assert snap_compare(app, press=["enter"], terminal_size=SIZES["80x24"])


def test_a_would_be_halt(snap_compare: Compare) -> None:
    strict = recorded(600, 3, "conservative")
    halt = next(mark for mark in strict.marks if mark.kind == "halt" and mark.agent == "main")
    app = Stage(GovernorScreen(), strict, halt.place + 1)
    assert snap_compare(app, terminal_size=SIZES["120x40"])


def test_transcript_filtered(snap_compare: Compare) -> None:
    app = Stage(TranscriptScreen("src/part3"), recorded(), 420)
    assert snap_compare(app, press=["2"], terminal_size=SIZES["80x24"])


@pytest.mark.parametrize("theme", ["nocturne", "daylight"])
@pytest.mark.parametrize("room", [(28, 8), (40, 12), (66, 20)], ids=["small", "medium", "large"])
def test_paths(snap_compare: Compare, room: tuple[int, int], theme: str) -> None:
    app = Stage(PathTree(), recorded(), 420, theme=theme)
    assert snap_compare(app, press=["down", "down"], terminal_size=room)


def test_paths_alone(snap_compare: Compare) -> None:
    tree = PathTree()
    tree.set_reactive(PathTree.detailed, True)
    assert snap_compare(Stage(tree, recorded(), 420), press=["down", "s"], terminal_size=SIZES["80x24"])
