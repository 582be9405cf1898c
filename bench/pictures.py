"""`make pictures`: the README's pictures, taken from the sample sessions.

`python -m bench.pictures FOLDER [--size 80x24] [--only WORD] [--log LOG] [--home HOME]` writes every screen and dialog
at four sizes, to be looked at before a change of the screen is merged.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from contextlib import chdir
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from textual.pilot import Pilot

from core.hooks.connection import IntakeFolder
from core.hooks.link import IntakeLink
from core.live.hook_signs import AskedChoice, HookBoard, HookSigns, PermitQuestion
from core.live.source import Target
from core.logs.lines import unpacked
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from sample_sessions import find_sample, samples
from tui.app import NooscopeApp
from tui.cli.launch import SAMPLE_NOTE
from tui.demo import DemoApp
from tui.feed.messages import OpenSession
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


class Scene(NamedTuple):
    """A screen or dialog: how a session is opened, and what is pressed then; `~2` waits for two seconds."""

    name: str
    steps: str = ""
    opened: str = "replay"  # Or finished, live, fleet, empty, first, demo, compare, broken, settings.
    story: str = "stuck"
    asks: str = ""  # The kind of permit that waits.
    size: str = ""  # Only at this size.


_ZOOMS = [Scene(f"zoom-{number}", f"end N N {number} z") for number in range(1, 7)]
_TABS = ("mind", "governor", "affect", "response", "branches")
SCENES = (
    Scene("main-paused", "end N N"),
    Scene("main-start", "home"),
    Scene("main-playing", "home space ~3"),
    Scene("main-end", "end", story="flow"),
    Scene("main-full", "end", story="full"),
    Scene("main-halt", "end", story="halt"),
    Scene("main-storm", "end", story="storm"),
    Scene("main-silence", "end", story="silence"),
    Scene("main-hidden", "end N N h"),
    Scene("main-panel-4", "end N N 4"),
    Scene("main-panel-5", "end N N 5"),
    Scene("main-timeline", "end N N 0 v"),
    Scene("main-too-small", "end N N", size="30x8"),
    Scene("main-live", "", opened="live"),
    Scene("main-live-asks", "~1", opened="live", asks="guard"),
    Scene("finished-recap", "", opened="finished", story="flow"),
    Scene("finished-failed", "", opened="finished"),
    Scene("finished-main", "escape", opened="finished", story="full"),
    Scene("recap", "end N N l"),
    *_ZOOMS,
    Scene("zoom-0", "end N N 0 z"),
    *(Scene(f"model-{name}", f"end N N m {place}") for place, name in enumerate(_TABS, 1)),
    *(Scene(f"model-{name}-storm", f"end m {place}", story="storm") for place, name in enumerate(_TABS, 1)),
    Scene("model-mind-alone", "end N N m z"),
    Scene("model-scrolled", "end N N m 2 pagedown pagedown"),
    Scene("tuning", "end N N t ~2"),
    Scene("tuning-changed", "end N N t" + " right" * 12 + " ~2"),
    Scene("tuning-all", "end N N t 2 ~2"),
    Scene("tuning-search", "end N N t slash f r u s ~2"),
    Scene("tuning-typed", "end N N t enter ~1"),
    Scene("tuning-save", "end N N t right right right ~1 S"),
    Scene("tuning-sweep", "end N N t v ~3"),
    Scene("tuning-beside", "end N N t z ~1"),
    Scene("what-if", "end N N t" + " right" * 12 + " ~1 w ~1 escape"),
    Scene("transcript", "end N N e"),
    Scene("transcript-found", "end N N e slash e r r o r enter ~1"),
    Scene("transcript-open", "end N N e o"),
    Scene("changes", "end c ~1 down down", story="flow"),
    Scene("changes-none", "home c ~1"),
    Scene("agents", "end a", story="storm"),
    Scene("agents-none", "end a"),
    Scene("compare", "right_square_bracket right right ~1", opened="compare"),
    Scene("compare-zoomed", "plus plus plus ~1", opened="compare"),
    Scene("help", "question_mark"),
    Scene("help-tuning", "t question_mark"),
    Scene("help-search", "question_mark l o o p ~1"),
    Scene("help-topic", "question_mark down down down down down down down down enter ~1"),
    Scene("palette", "ctrl+p ~1"),
    Scene("palette-typed", "ctrl+p t h e m e ~1"),
    Scene("palette-themes", "ctrl+p t h e m e ~1 enter ~1"),
    Scene("search", "slash ~1"),
    Scene("search-typed", "slash t e s t ~1"),
    Scene("find", "F ~2", opened="fleet"),
    Scene("find-typed", "F ~1 t e s t ~4", opened="fleet"),
    Scene("find-nothing", "F ~1 q q z z ~3", opened="fleet"),
    Scene("bookmark", "end N N b"),
    Scene("label", "end g ~2"),
    Scene("resume", "~2 R ~1", opened="fleet"),
    Scene("message", "end s ~1 t r y enter ~1"),
    Scene("deny", "~1 d ~1", opened="live", asks="guard"),
    Scene("answer", "~1 y ~1", opened="live", asks="question"),
    Scene("nothing-waits", "y ~1", opened="live"),
    Scene("fleet", "~3", opened="fleet"),
    Scene("fleet-by-need", "~3 v", opened="fleet"),
    Scene("fleet-readings", "~3 v v v v v", opened="fleet"),
    Scene("fleet-needs", "~3 2", opened="fleet"),
    Scene("fleet-filter", "~3 slash c o d e x ~1", opened="fleet"),
    Scene("fleet-filter-nothing", "~3 slash q q z z ~1", opened="fleet"),
    Scene("fleet-rest", "~3 o ~1", opened="fleet"),
    Scene("fleet-marked", "~3 b ~1", opened="fleet"),
    Scene("fleet-asks", "~3", opened="fleet", asks="permission"),
    Scene("fleet-empty", "~2", opened="empty"),
    Scene("fleet-help", "~2 question_mark", opened="fleet"),
    Scene("first-session", "~1", opened="first"),
    Scene("first-sample", "~3", opened="demo"),
    Scene("unreadable", "~2", opened="broken"),
    Scene("settings-broken", "~1 end", opened="settings"),
)
SIZES = ("60x15", "80x24", "120x40", "200x60")
# Stories as sessions of today: how much of each was written, and how long ago.
_TODAY = (("flow", 1.0, 200), ("stuck", 0.45, 20), ("wander", 0.7, 500), ("shift", 0.4, 6), ("full", 1.0, 9000))
_TODAY_LIVE = "stuck"
_STAMP = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ")
_ROOTS = {"claude-code": ".claude", "codex": ".codex", "gemini": ".gemini", "pi": ".pi/agent"}


def main() -> int:
    if len(sys.argv) > 1:
        return _take_all(sys.argv[1:])
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


def _take_all(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench.pictures", description="Every screen and dialog as a picture.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", action="append", help="such as 80x24; all four by default")
    parser.add_argument("--only", default="", help="scenes whose name contains this")
    parser.add_argument("--log", type=Path, help="a log instead of the samples")
    parser.add_argument("--home", type=Path, help="a home with sessions instead of the made-up one")
    parser.add_argument("--theme", default="nocturne")
    args = parser.parse_args(arguments)
    args.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        shelf = Path(scratch)
        for kind in ("DATA", "CACHE", "CONFIG", "STATE"):
            os.environ[f"XDG_{kind}_HOME"] = str(shelf / kind)
        for scene in SCENES:
            if args.only not in scene.name or (args.log and scene.opened not in ("replay", "finished")):
                continue
            for size in [scene.size] if scene.size else args.size or SIZES:
                home = shelf / "empty" if scene.opened == "empty" else args.home or shelf / "home"
                os.environ["HOME"] = str(home)
                if not (args.home or home.exists()):
                    home.mkdir()
                    if scene.opened != "empty":
                        _write_today(home)
                width, _, height = size.partition("x")
                path = args.log or find_sample(scene.story).path
                taken = _scene(scene, path, shelf, (int(width), int(height)), args.theme)
                (args.folder / f"{size}-{scene.name}.svg").write_text(asyncio.run(taken), encoding="utf-8")
                print(size, scene.name, file=sys.stderr)
    return 0


async def _scene(scene: Scene, path: Path, shelf: Path, size: tuple[int, int], theme: str) -> str:
    app = _app_of(scene, path, shelf)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.theme = theme
        if scene.opened in ("fleet", "empty"):
            await pilot.pause(1.0)
        else:
            for _ in range(200):
                await pilot.pause(0.05)
                if scene.opened == "broken" or (app.view is not None and app.view.total and app.view.loading is None):
                    break
        if scene.opened in ("replay", "settings"):
            await pilot.press("space")
        if scene.opened == "finished":
            app.post_message(OpenSession(path, False, ""))
            await pilot.pause(2.0)
        if scene.opened == "compare":
            _write_runs(path, shelf)
            ids = (app.view.subject.session,) * 2 if app.view is not None else ()
            with chdir(shelf):
                app.push_screen(CompareScreen(("first-run.jsonl", "second-run.jsonl"), ids, Settings()))
                await pilot.pause(3.0)
        if scene.asks:
            _ask(app, scene)
        await _press(pilot, scene.steps)
        await pilot.pause(1.2)
        return app.export_screenshot(title="nooscope")


async def _press(pilot: Pilot[None], steps: str) -> None:
    for step in steps.split():
        if step.startswith("~"):
            await pilot.pause(float(step[1:]))
        else:
            await pilot.press(step)
            await pilot.pause(0.05)


class _Link(IntakeLink):
    """A link without a server, which says what waits."""

    def start(self) -> None:
        pass

    stop = start


def _ask(app: NooscopeApp, scene: Scene) -> None:
    """Have the session, or the newest one of the fleet, wait for an answer."""
    session = app.view.subject.session if app.view is not None else find_sample(_TODAY_LIVE).path.stem.split(".")[0]
    choice = AskedChoice("Which database should the tests use?", ("SQLite in memory", "a PostgreSQL container"))
    question = PermitQuestion(
        3,
        time.time() - 75,
        session,
        "AskUserQuestion" if scene.asks == "question" else "Bash",
        choice.question if scene.asks == "question" else "rm -rf build dist && git push --force origin main",
        "" if scene.asks == "question" else "the command destroys something",
        kind=scene.asks,  # type: ignore[arg-type]
        choices=(choice,) if scene.asks == "question" else (),
    )
    assert app.link is not None
    signs = HookSigns(heard=1.0, mode="guard", questions=(question,), answers=True)
    app.link.board = HookBoard(1, True, {session: signs})
    app.link.show(app.link.board)


def _app_of(scene: Scene, path: Path, shelf: Path) -> NooscopeApp:
    settings, link = Settings(), _Link(IntakeFolder(shelf / "intake"))

    def shelved(name: str) -> Bookmarks:
        return Bookmarks(name, shelf / scene.name)

    if scene.opened == "demo":
        return DemoApp(find_sample("stuck"), settings, note=SAMPLE_NOTE)
    if scene.opened in ("fleet", "empty"):
        return NooscopeApp(None, settings, link=link, live=True)
    if scene.opened in ("live", "first"):
        (path,) = (Path.home() / ".claude").rglob(find_sample(_TODAY_LIVE).path.name.removesuffix(".zst"))
        (shelf / "DATA" / "nooscope").mkdir(parents=True, exist_ok=True)
        flag = shelf / "DATA" / "nooscope" / "opened"
        flag.unlink(missing_ok=True) if scene.opened == "first" else flag.touch()
    if scene.opened == "broken":
        path = shelf / "broken.jsonl"
        path.write_bytes(bytes(range(256)) * 40)
    faults = ["settings.toml, line 3: receptor.ambient.offset.frustation: no such setting; did you mean frustration?"]
    live = scene.opened in ("live", "first")
    faults = faults if scene.opened == "settings" else []
    return NooscopeApp(Target(path, live), settings, bookmarks=shelved, link=link, live=live, faults=faults)


def _write_today(home: Path) -> None:
    """Write stories as if they happened today, some of them still going on."""
    now = datetime.now(UTC)
    for name, share, ago in _TODAY:
        sample = find_sample(name)
        text = unpacked(sample.path.read_bytes()).decode()
        if sample.path.name.endswith(".jsonl.zst"):
            lines = text.splitlines(keepends=True)
            text = "".join(lines[: round(share * len(lines))])
        stamps = [datetime.fromisoformat(stamp) for stamp in _STAMP.findall(text)]
        late = now - timedelta(seconds=ago) - max(stamps)

        def moved(stamp: re.Match[str], late: timedelta = late) -> str:
            at = datetime.fromisoformat(stamp.group()) + late
            return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

        inner = sample.path.relative_to(Path(find_sample.__code__.co_filename).parent / "logs" / name)
        path = home / _ROOTS[sample.agent] / inner.with_name(inner.name.removesuffix(".zst"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_STAMP.sub(moved, text), encoding="utf-8")
        os.utime(path, ((now - timedelta(seconds=ago)).timestamp(),) * 2)


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
