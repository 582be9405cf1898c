"""How apps run under test: what is drawn when, and that nothing which cannot be drawn goes unnoticed."""

from __future__ import annotations

from typing import ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.reactive import reactive
from textual.widget import Widget


class Counter(Widget):
    """Counts its pictures, and fails at the one it is told."""

    number = reactive(0)
    fails_at = -1
    drawn: list[int]

    def render(self) -> str:
        if self.number == self.fails_at:
            raise ValueError("no picture")
        self.drawn.append(self.number)
        return str(self.number)


class CounterApp(App[None]):
    """A counter that a key moves on."""

    BINDINGS: ClassVar[list[BindingType]] = [("a", "more", "more")]

    def __init__(self, fails_at: int = -1) -> None:
        super().__init__()
        self.counter = Counter()
        self.counter.fails_at = fails_at
        self.counter.drawn = []

    def compose(self) -> ComposeResult:
        yield self.counter

    def action_more(self) -> None:
        self.counter.number += 1


async def test_keys_are_drawn_once_the_test_waits() -> None:
    app = CounterApp()
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.counter.drawn[-1] == 0
        await pilot.press("a", "a", "a")
        assert app.counter.drawn[-1] == 0
        await pilot.pause()
        assert app.counter.drawn[-1] == 3
        assert set(app.counter.drawn) == {0, 3}


@pytest.mark.parametrize("waits", [True, False])
async def test_what_cannot_be_drawn_fails_whether_or_not_the_test_waits(waits: bool) -> None:
    app = CounterApp(fails_at=1)
    with pytest.raises(ValueError, match="no picture"):
        async with app.run_test() as pilot:
            await pilot.press("a")
            if waits:
                await pilot.pause()
    assert not app.is_running
