"""Sample sessions on the screen, with their narrator."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.errors import UsageError
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from sample_sessions import FIRST, find_sample, samples
from tests.tui.conftest import shown
from tui.cli import launch, main
from tui.demo import DemoApp, Narrator
from tui.feed.messages import GoLive, Seek, SeekTime, TogglePlay
from tui.feed.view import View


@pytest.fixture
def demo_of(tmp_path: Path, still: Settings) -> Callable[[str], DemoApp]:
    """The app on a story, with folders of its own."""

    def make(name: str) -> DemoApp:
        shelf = tmp_path / "bookmarks"
        return DemoApp(
            find_sample(name),
            still,
            bookmarks=lambda session: Bookmarks(session, shelf),
            theme_folder=tmp_path / "themes",
        )

    return make


def said(app: DemoApp) -> str:
    return str(app.screen.query_one(Narrator).render())


async def move(app: DemoApp, pilot: Pilot[None], seconds: float) -> View:
    """Hold still at a moment of the story."""
    view = await shown(app, pilot, lambda _: True)
    if view.playing:
        app.post_message(TogglePlay())
    app.post_message(SeekTime(view.start + seconds))
    return await shown(app, pilot, lambda view: not view.playing and abs(view.at - view.start - seconds) < 30)


def test_every_story_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for sample, line in zip(samples(), lines, strict=False):
        assert line.split()[0] == sample.name
        assert line.endswith(sample.sentence)


def test_a_story_is_chosen_by_its_name_or_the_beginning_of_it() -> None:
    assert find_sample(FIRST).name == FIRST
    assert find_sample("look").name == "lookalike"
    with pytest.raises(UsageError, match="available: stuck, shift, storm, silence"):
        find_sample("s")
    with pytest.raises(UsageError, match="'opera' is not a demo; available: flow, stuck"):
        find_sample("opera")


def test_without_a_terminal_it_is_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "user.toml"))
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "halt"]) == 0
    told = capsys.readouterr().out
    assert find_sample("halt").notice in told
    assert "would halt 1 time" in told


async def test_the_narrator_follows_the_playhead(demo_of: Callable[[str], DemoApp]) -> None:
    app = demo_of("stuck")
    story = find_sample("stuck")
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda _: True)
        assert story.narration[0].text in said(app)
        line = story.narration[4]
        view = await move(app, pilot, line.at + 1)
        assert view.frame.receptor.meta.state == "stuck"
        assert line.text in said(app)
        await move(app, pilot, 1.0)
        assert story.narration[0].text in said(app)
        narrator, screen = app.screen.query_one(Narrator), app.screen.size
        assert narrator.region.height == 1
        assert narrator.region.bottom == screen.height - 1, "just above the footer"


async def test_it_turns_to_whom_it_speaks_about(demo_of: Callable[[str], DemoApp]) -> None:
    app = demo_of("storm")
    held = next(line for line in find_sample("storm").narration if "quarantine enters" in line.shows)
    async with app.run_test(size=(80, 24)) as pilot:
        await move(app, pilot, held.at + 1)
        view = await shown(app, pilot, lambda view: view.agent == held.agent)
        assert view.frame.affect.quarantined
        assert said(app).startswith("» general-purpose 3: ")
        assert app.screen.query_one(Narrator).region.height == 2
        app.post_message(GoLive())
        ended = await shown(app, pilot, lambda view: view.agent == "main")
        assert ended.index == ended.total


async def test_the_narrator_leaves_an_agent_the_person_went_to(demo_of: Callable[[str], DemoApp]) -> None:
    app = demo_of("storm")
    sample = find_sample("storm")
    held = next(line for line in sample.narration if line.agent != "main")
    async with app.run_test(size=(120, 40)) as pilot:
        await move(app, pilot, held.at + 10)
        await shown(app, pilot, lambda view: view.agent == held.agent)
        assert app.recording is not None
        mark = next(
            mark
            for mark in app.recording.marks
            if mark.kind == "signal"
            and mark.agent not in ("main", held.agent)
            and sample.line(mark.at - app.recording.events[0].at).agent == "main"
        )
        app.post_message(Seek(mark.place + 1, mark.agent))
        await shown(app, pilot, lambda view: view.index == mark.place + 1)
        for _ in range(5):
            await pilot.pause()
        view = await shown(app, pilot, lambda view: view.index == mark.place + 1)
        assert view.agent == mark.agent


def test_where_no_agent_ever_ran_a_sample_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, still: Settings
) -> None:
    shown_apps: list[tuple[DemoApp, float]] = []

    def run(app: DemoApp) -> None:
        shown_apps.append((app, app.settings.timeline.play.speed))

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(launch, "has_screen", lambda: True)
    monkeypatch.setattr(DemoApp, "run", run)
    assert launch.show_session(None, still, Namespace(project=None, faults=()), live=True) == 0
    [(app, speed)] = shown_apps
    assert app.sub_title == find_sample(FIRST).title
    assert speed == find_sample(FIRST).speed
    assert app.settings.receptor == Settings().receptor, "a story plays with the figures of the product"


async def test_a_sample_that_was_not_asked_for_says_why_it_is_there(tmp_path: Path, still: Settings) -> None:
    app = DemoApp(find_sample(FIRST), still, theme_folder=tmp_path, note=launch.SAMPLE_NOTE)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total > 0)
        first, second = said(app).splitlines()[:2]
        assert first == launch.SAMPLE_NOTE
        assert second.startswith("»")
        assert len(first) <= 78
