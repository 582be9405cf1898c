"""`make pictures`: the README's pictures, taken from the sample sessions."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from core.live.source import Target
from core.logs.lines import unpacked
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from sample_sessions import samples
from tui.app import NooscopeApp
from tui.screens.compare import CompareScreen

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"


class Picture(NamedTuple):
    """One screen of one story at one moment."""

    name: str
    story: str
    keys: tuple[str, ...]
    size: tuple[int, int] = (120, 40)
    theme: str = "nocturne"
    compared: bool = False  # With the same story from which a third of the records is left out.


PICTURES = (
    Picture("observatory", "stuck", ("end", "N", "N")),
    Picture("small", "full", ("end",), (80, 24)),
    Picture("mind", "full", ("end", "m")),
    Picture("governance", "halt", ("end", "m", "2")),
    Picture("transcript", "stuck", ("end", "N", "N", "e")),
    Picture("vast", "stuck", ("end", "N", "N"), (200, 60)),
    Picture("tuning", "stuck", ("end", "t", *("right",) * 12)),
    Picture("changes", "flow", ("end", "c", *("down",) * 3)),
    Picture("compare", "stuck", ("]", *("right",) * 4), compared=True),
    Picture("daylight", "flow", ("end",), theme="daylight"),
)
FILM = Picture("film", "stuck", ("home",), (80, 24))  # From the prompt over the first failure to the loop.
_FRAMES = 8


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        (svg,) = asyncio.run(_taken(picture, 1))
        (FOLDER / f"{picture.name}.svg").write_text(svg, encoding="utf-8")
        print(f"{picture.name}.svg  {len(svg) // 1024} kB", file=sys.stderr)
    frames = asyncio.run(_taken(FILM, _FRAMES))
    film = _animated(frames)
    (FOLDER / f"{FILM.name}.svg").write_text(film, encoding="utf-8")
    print(f"{FILM.name}.svg  {len(film) // 1024} kB, {len(frames)} frames", file=sys.stderr)
    return 0


async def _taken(picture: Picture, frames: int) -> list[str]:
    """The screen after the keys, and again at as many places of the story as asked for."""
    (path,) = [sample.path for sample in samples() if sample.name == picture.story]
    taken = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        shelf = Path(folder)
        app = NooscopeApp(Target(path, False), Settings(), bookmarks=lambda name: Bookmarks(name, shelf))
        async with app.run_test(size=picture.size) as pilot:
            app.theme = picture.theme
            for _ in range(200):
                await pilot.pause(0.05)
                if app.view is not None and app.view.total and app.view.loading is None:
                    break
            await pilot.press("space")
            if picture.compared:
                _write_runs(path, shelf)
                ids = (app.view.subject.session,) * 2 if app.view is not None else ()
                screen = CompareScreen(("first-run.jsonl", "second-run.jsonl"), ids, Settings())
                with chdir(shelf):
                    app.push_screen(screen)
                    while screen.compared is None:
                        await pilot.pause(0.05)
            await pilot.press(*picture.keys)
            total = app.view.total if app.view is not None else 0
            for number in range(frames):
                if number:
                    await pilot.press(*("right",) * max(1, total // frames))
                await pilot.pause(1.2)
                taken.append(app.export_screenshot(title="nooscope"))
    return taken


def _write_runs(path: Path, folder: Path) -> None:
    """Write a log, and a copy of it without a third of its records."""
    lines = unpacked(path.read_bytes()).splitlines(keepends=True)
    third = len(lines) // 3
    (folder / "first-run.jsonl").write_bytes(b"".join(lines))
    (folder / "second-run.jsonl").write_bytes(b"".join((*lines[:third], *lines[2 * third :])))


def _animated(frames: list[str]) -> str:
    """Frames laid over each other, each shown for its share of the loop; ids are kept apart."""
    seconds = len(frames)
    share = 100 / seconds
    shown = []
    head = ""
    for number, svg in enumerate(frames):
        svg = re.sub(r"terminal-\d+", f"terminal-{number}", svg)
        opening, _, body = svg.partition(">")
        if not number:
            head = opening + ">"
        body = body.rsplit("</svg>", 1)[0]
        shown.append(f'<g class="frame" style="animation-delay:{number}s">{body}</g>')
    style = (
        "<style>.frame{opacity:0;animation:turn "
        f"{seconds}s infinite step-end}}@keyframes turn{{0%{{opacity:1}}{share:.3f}%{{opacity:0}}}}</style>"
    )
    return head + style + "".join(shown) + "</svg>"


if __name__ == "__main__":
    sys.exit(main())
