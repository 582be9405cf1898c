"""What is drawn holds nothing a terminal would obey, whatever the log, the person or a stranger named."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.strip import Strip
from textual.widgets import Static

from core.engine.response.reaction import Notice
from core.live.notices import command, desktop, notice_json, show_notice
from core.store.bookmarks import Bookmark
from tests.hostile import HOSTILE, harm, log_at, settings_at
from tests.tui.conftest import shown
from tui.app import NooscopeApp
from tui.draw.kept_lines import SAFE_LINES

Make = Callable[..., NooscopeApp]


def drawn(app: NooscopeApp) -> list[Strip]:
    """The screen as it goes to the terminal."""
    return app.screen._compositor.render_strips()


def words(lines: list[Strip]) -> str:
    return "\n".join("".join(segment.text for segment in line if not segment.control) for line in lines)


@pytest.mark.parametrize("keys", ["", "e", "m", "o", "t", "question_mark", "s", "g", "b", "P"])
async def test_no_screen_draws_what_a_terminal_would_obey(keys: str, home: Path, app_on: Make) -> None:
    settings_at(home, home / "config")
    app = app_on(log_at(home), live=False)
    async with app.run_test(size=(140, 44)) as pilot:
        await shown(app, pilot, lambda view: view.total > 100)
        app.bookmarks = (Bookmark(HOSTILE, 3, 1.0, 2.0, HOSTILE, ""),)
        app.notify(HOSTILE, title=HOSTILE)
        if keys:
            await pilot.press(keys)
        await pilot.pause()
        lines = drawn(app)
        assert harm(words(lines)) == []
        assert {cell_len(line) for line in words(lines).split("\n")} == {140}


async def test_text_that_no_one_looked_at_is_safe_on_the_screen_too(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.screen.mount(Static(f"before{HOSTILE}after", markup=False))
        app.screen.border_title = HOSTILE
        await pilot.pause()
        assert harm(words(drawn(app))) == []


def test_a_line_keeps_its_width() -> None:
    line = [Segment(f"a{HOSTILE}b"), Segment("█▁ c")]
    safe = SAFE_LINES.apply(line, Color(0, 0, 0))
    assert harm("".join(each.text for each in safe)) == []
    assert sum(each.cell_length for each in safe) == sum(each.cell_length for each in line)


@pytest.mark.parametrize("form", ["osc9", "osc777"])
def test_notices_are_safe_on_every_way_out(form: str, tmp_path: Path) -> None:
    said = show_notice(Notice(1.0, HOSTILE, "risk", HOSTILE, f"text{HOSTILE};x", 0.0))
    stream = io.StringIO()
    desktop(stream, form)(said)
    inner = stream.getvalue().removeprefix("\x1b]").removesuffix("\x1b\\")
    assert harm(inner) == [] and (form == "osc9" or inner.count(";") == 3)
    assert harm(notice_json(said).decode()) == [] and json.loads(notice_json(said))["text"].startswith("text")
    marker, problems = tmp_path / "told", list[str]()
    script = "import sys; open(sys.argv[1], 'w').write(repr(sys.argv[2:]) + sys.stdin.read())"
    command((sys.executable, "-c", script, str(marker), "{text}", "{rule}", "{agent}"), 20.0, problems)(said)
    assert problems == [] and harm(marker.read_text()) == []
