"""Drawing only what is different must give the picture that drawing everything gives."""

from __future__ import annotations

import pytest

from tests.tui.screen_app import recorded
from tests.tui.still_app import Observatory

PLACES = (1, 2, 40, 41, 42, 43, 300, 301, 120, 121, 420, 419, 420)


def _picture(app: Observatory) -> list[list[tuple[str, str]]]:
    strips = app.screen._compositor.render_strips()
    return [[(text, str(style)) for text, style, _ in strip.simplify()] for strip in strips]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("screen", ["", "mind", "governor"], ids=["main", "mind", "governance"])
async def test_following_gives_the_picture_of_a_fresh_screen(screen: str, size: tuple[int, int]) -> None:
    timeline = recorded()
    followed = Observatory(timeline, PLACES[0], screen=screen)
    async with followed.run_test(size=size) as pilot:
        await pilot.pause()
        first = _picture(followed)
        for place in PLACES:
            followed.show(place)
            await pilot.pause()
        last = _picture(followed)
    fresh = Observatory(timeline, PLACES[-1], screen=screen)
    async with fresh.run_test(size=size) as pilot:
        await pilot.pause()
        assert last == _picture(fresh)
        assert last != first


async def test_a_screen_that_was_covered_comes_back_as_it_should_be() -> None:
    timeline = recorded()
    app = Observatory(timeline, 40)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("e")
        app.show(300)
        await pilot.press("escape")
        await pilot.pause()
        came_back = _picture(app)
    fresh = Observatory(timeline, 300)
    async with fresh.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert came_back == _picture(fresh)


async def test_one_event_leaves_most_lines_alone() -> None:
    app = Observatory(recorded(), 300)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        panel = app.screen.query_one("#triangle")
        strips = [panel.render_line(y) for y in range(panel.size.height)]
        app.show(301)
        await pilot.pause()
        again = [panel.render_line(y) for y in range(panel.size.height)]
        assert any(one is other for one, other in zip(strips, again, strict=True))
