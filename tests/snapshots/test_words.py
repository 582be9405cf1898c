"""Pictures of a session in its own words: the strip, the transcript, and both with words hidden."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.live.source import Target
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from tests.core.logs import log_lines as logs
from tests.tui.conftest import press_each, shown, until
from tui.app import NooscopeApp
from tui.widgets.common.panel import Panel
from tui.widgets.transcript.document import Document

Compare = Callable[..., bool]
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
EDIT = {
    "file_path": "/srv/project/src/billing.py",
    "old_string": "def price(item):\n    return item.cost\n",
    "new_string": "def price(item):\n    return item.cost * item.count\n",
}
FAILED = """\
collected 9 items
E   AssertionError: assert 200 == 404
FAILED tests/test_billing.py::test_total
1 failed"""


def talk(second: float, text: str) -> bytes:
    """The agent says something."""
    usage = {"input_tokens": 900, "output_tokens": 70, "cache_read_input_tokens": 90_000}
    message = {
        "id": f"m-{second}",
        "role": "assistant",
        "model": "claude-opus-4",
        "content": [{"type": "text", "text": text}],
        "usage": usage,
    }
    return logs.line(second, type="assistant", message=message)


def story() -> bytes:
    """Asked, tried, failed twice, said so."""
    return b"".join(
        (
            logs.prompt(0, "migrate the billing service to the new API and add tests"),
            talk(30, "I look at the service first, then I change how prices are made."),
            logs.call(60, "a", "Read", {"file_path": "/srv/project/src/billing.py"}),
            logs.result(61, "a", "def price(item):\n    return item.cost\n"),
            logs.call(400, "b", "Edit", EDIT),
            logs.result(401, "b", "updated"),
            logs.call(430, "c", "Bash", {"command": "pytest -q tests/test_billing.py"}),
            logs.result(442, "c", FAILED, error=True),
            logs.call(500, "d", "Bash", {"command": "pytest -q tests/test_billing.py"}),
            logs.result(511, "d", FAILED, error=True),
            talk(540, "One test still fails because the mock returns the old shape, so I will change the mock."),
        )
    )


def observatory(folder: Path) -> NooscopeApp:
    path = folder / "session.jsonl"
    path.write_bytes(story())
    plain = Settings()
    still = plain.replace(screen=plain.screen.replace(motion=False))
    return NooscopeApp(
        Target(path, False), still, bookmarks=lambda name: Bookmarks(name, folder / "b"), theme_folder=folder / "t"
    )


def walk(app: NooscopeApp, *keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def go(pilot: Pilot[None]) -> None:
        await shown(app, pilot, lambda view: view.total > 9)
        await pilot.press("space", "end")
        await shown(app, pilot, lambda view: view.index == view.total and not view.playing)
        await press_each(pilot, *keys)
        await until(pilot, lambda: not any("reading" in text(panel) for panel in app.screen.query(Document)))
        await pilot.pause()

    return go


def text(panel: Panel) -> str:
    return "\n".join(panel.render_line(y).text for y in range(panel.size.height))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("keys", [(), ("e",), ("h",)], ids=["main", "transcript", "hidden"])
def test_words(snap_compare: Compare, tmp_path: Path, size: str, keys: tuple[str, ...]) -> None:
    app = observatory(tmp_path)
    assert snap_compare(app, run_before=walk(app, *keys), terminal_size=SIZES[size])


def test_only_failures(snap_compare: Compare, tmp_path: Path) -> None:
    app = observatory(tmp_path)
    assert snap_compare(app, run_before=walk(app, "e", "2"), terminal_size=SIZES["80x24"])


def test_the_raw_line(snap_compare: Compare, tmp_path: Path) -> None:
    app = observatory(tmp_path)

    async def go(pilot: Pilot[None]) -> None:
        await walk(app, "e", "home", "down", "v")(pilot)
        await until(pilot, lambda: "migrate" in text(app.screen.query_one("#passage", Panel)))
        await pilot.pause()

    assert snap_compare(app, run_before=go, terminal_size=SIZES["120x40"])
