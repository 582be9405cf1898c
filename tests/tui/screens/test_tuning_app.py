"""The bench in the whole app: opened by its key, applied through the feed, beside the main screen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cbor2
import pytest
from textual.widgets import Input

from bench.workload import session
from core.events import Event
from core.live.source import Target
from core.settings import Settings
from core.settings.layers import value_of
from core.store.bookmarks import Labels
from core.timeline.rerun import with_edits
from core.timeline.timeline import Timeline
from tests.tui.conftest import lines, shown, until
from tui.app import NooscopeApp
from tui.feed.messages import Apply
from tui.screens.bench import Bench, TuningScreen
from tui.screens.main import MainScreen
from tui.widgets.tuning.settings_list import FIRST, SettingsList

ROOT = Path(__file__).resolve().parents[3]
Make = Callable[..., NooscopeApp]


async def test_applied_settings_hold_for_what_comes_and_a_replay_is_exact(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen))
        bench = app.screen.query_one(Bench)
        await pilot.press("left", "left", "left")
        await until(pilot, lambda: bench.effects.compared is not None and bench.effects.compared.complete)
        await pilot.press("S", "enter")
        recording = app.recording
        assert recording is not None
        await until(pilot, lambda: len(recording.changes) == 2 and bench.draft.edits == {})
        assert recording.changes[1].after == 300
        assert value_of(app.settings, FIRST) == pytest.approx(0.08)
        more: list[Event] = session(340, agents=2)
        with log.open("ab") as file:
            file.write(lines(more[300:]))
        await shown(app, pilot, lambda view: view.total == 340)
        replay = Timeline(recording.changes[0].settings, seed=recording.initial.seed)
        replay.extend(recording.events[:300])
        replay.apply(recording.settings)
        replay.extend(recording.events[300:])
        assert cbor2.dumps(replay.society.dump()) == cbor2.dumps(recording.society.dump())
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, MainScreen))


async def test_settings_are_refused_when_the_session_moved_on(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        recording = app.recording
        assert recording is not None
        other = recording.settings.replace(screen=recording.settings.screen.replace(rate=7))
        app.post_message(Apply(other, 299))
        await until(pilot, lambda: any("the session moved on" in note.message for note in app._notifications))
        assert len(recording.changes) == 1 and app.settings.screen.rate != 7
        app.post_message(Apply(other, 300))
        await until(pilot, lambda: app.settings.screen.rate == 7)


async def test_changes_tried_before_more_came_are_refused_by_their_key(
    log: Path, app_on: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial takes in what comes; here it does not get to it."""
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen))
        bench = app.screen.query_one(Bench)
        await pilot.press("left", "left", "left")
        await until(pilot, lambda: bench.effects.compared is not None and bench.effects.compared.complete)
        monkeypatch.setattr(bench.effects, "follow", lambda *_: None)
        more: list[Event] = session(340, agents=2)
        with log.open("ab") as file:
            file.write(lines(more[300:]))
        await shown(app, pilot, lambda view: view.total == 340)
        await pilot.press("S", "enter")
        refusal = "the session moved on: 40 events came since these settings were tried; look again"
        await until(pilot, lambda: any(refusal in note.message for note in app._notifications))
        recording = app.recording
        assert recording is not None and len(recording.changes) == 1 and bench.draft.edits


async def test_a_trial_that_ended_at_its_limit_is_refused_by_its_key(log: Path, app_on: Make, still: Settings) -> None:
    log.write_bytes(lines(session(1_100, agents=2)))
    app = app_on(log, settings=with_edits(still, {"timeline.branch.most": 1000}))
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 1_100)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen))
        bench = app.screen.query_one(Bench)
        await pilot.press("left", "left", "left")
        await until(pilot, lambda: bench.effects.compared is not None and bench.effects.compared.complete)
        await pilot.press("S", "enter")
        refusal = "the trial ended at its limit of 1000 events; timeline.branch.most allows more"
        await until(pilot, lambda: any(refusal in note.message for note in app._notifications))
        recording = app.recording
        assert recording is not None and len(recording.changes) == 1 and bench.draft.edits


async def test_the_bench_stands_beside_the_main_screen(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(160, 48)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("t", "z")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and bool(app.screen.query(SettingsList)))
        settings = app.screen.query_one(SettingsList)
        await until(pilot, lambda: settings.has_focus)
        await pilot.press("left", "left")
        bench = app.screen.query_one(Bench)
        await until(pilot, lambda: bench.effects.compared is not None and bench.effects.compared.complete)
        await pilot.press("z")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen))


async def test_beside_the_main_screen_a_line_is_left_and_a_table_typed(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(160, 48)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("t", "z")
        await until(pilot, lambda: isinstance(app.screen, MainScreen) and bool(app.screen.query(SettingsList)))
        settings, bench = app.screen.query_one(SettingsList), app.screen.query_one(Bench)
        await until(pilot, lambda: settings.has_focus)
        await pilot.press("enter", "escape")
        assert settings.has_focus
        assert not bench.has_class("-typing")
        await pilot.press("3", "escape")
        assert settings.has_focus
        assert settings.listing == "common"
        settings.show("response.loops.tools")
        await pilot.press("enter")
        bench.query_one("#typed", Input).value = "{Bash = {repeat = 6}}"
        await pilot.press("enter")
        await until(pilot, lambda: bench.effects.compared is not None and bench.effects.compared.complete)
        assert bench.draft.edits == {"response.loops.tools": {"Bash": {"repeat": 6}}}
        await pilot.press("escape")
        await pilot.press("escape")
        assert not settings.has_focus


async def test_where_there_is_no_room_beside_it_has_its_own_screen(log: Path, app_on: Make) -> None:
    app = app_on(log)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("t", "z")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen) and bool(app._notifications))


async def test_the_bench_opens_without_complaint_before_the_first_event(tmp_path: Path, app_on: Make) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"")
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen))
        await pilot.pause()
        assert not list(app._notifications)


async def test_labels_are_kept_beside_the_bookmarks(log: Path, app_on: Make, tmp_path: Path) -> None:
    app = app_on(log)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("t", "g")
        await until(pilot, lambda: bool(app.feed and app.feed.labels and app.feed.labels.judged()))
        await pilot.press("b")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.bookmarks))
        (path,) = (tmp_path / "bookmarks").glob("*.json")
        store = Labels(folder=path.parent, key=path.stem)
        assert [label.verdict for label in store.judged()] == ["missed"]
        assert len(store.read()) == 1


async def test_a_real_session_says_why_nothing_changed(app_on: Callable[..., NooscopeApp], shared_data: Path) -> None:
    """The threshold cannot fall below a bound, which is named, so that one knows what to turn instead."""
    log = shared_data / "real_sessions" / "codex" / "rollout-tracker.jsonl"
    app = app_on(log, live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None and view.total > 30)
        await pilot.press("end", "t")
        await pilot.pause()
        await pilot.press("enter", "0", "enter")
        text = ""
        for _ in range(400):
            await pilot.pause(0.02)
            text = " ".join(strip.text for strip in app.screen._compositor.render_strips())
            if "nothing changed, because" in text:
                break
        assert "nothing changed, because frustration never reaches its" in text
        assert "receptor.ambient.low" in text


async def test_one_key_shows_what_would_have_happened_at_the_same_playhead(log: Path, app_on: Make) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None and view.total == 300)
        await pilot.press("end", "left", "w")
        await until(pilot, lambda: any("no setting is changed" in one.message for one in app._notifications))
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen))
        await pilot.press(*["left"] * 5, "escape")
        actual = app.recording
        await pilot.press("w")
        await shown(app, pilot, lambda view: view.what_if and view.index == 299)
        other = app.recording
        assert actual is not None and other is not None and other is not actual
        expected = Timeline(other.settings, initial=actual.initial)
        expected.extend(actual.events)
        assert cbor2.dumps(other.society.dump()) == cbor2.dumps(expected.society.dump())
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen))
        assert app.screen.query_one(Bench).actual is actual
        await pilot.press("w")
        await shown(app, pilot, lambda view: not view.what_if and view.index == 299)
        assert app.recording is actual


LISTENER = """
from pathlib import Path
from core.extension import Extension
class Listener(Extension):
    name = "listener"
    def on_mind_event(self, event):
        with Path(__file__).with_name("heard.txt").open("a") as file:
            file.write(f"{event}\\n")
EXTENSION = Listener
"""
KILLED = """
import os, signal
from core.store import atomic
from core.store.profiles import ProfileFiles
write = atomic.replace
def write_and_die(*words):
    write(*words)
    os.kill(os.getpid(), signal.SIGKILL)
atomic.replace = write_and_die
ProfileFiles.usual().save_settings({"screen.rate": 7}, "user")
"""


async def test_a_save_that_was_killed_is_undone_by_the_next_and_extensions_hear_of_it(
    log: Path, still: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("NOOSCOPE_CONFIG", raising=False)
    settings = tmp_path / "config" / "nooscope" / "settings.toml"
    heard = settings.parent / "extensions" / "heard.txt"
    heard.parent.mkdir(parents=True)
    (heard.parent / "listener.py").write_text(LISTENER)
    killed = subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert killed.returncode == -signal.SIGKILL and "rate = 7" in settings.read_text()
    app = NooscopeApp(Target(log, live=True), still, live=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total == 300)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TuningScreen))
        await pilot.press("left", "S", "down", "enter")
        await until(pilot, lambda: settings.exists() and "rate" not in settings.read_text())
        with log.open("ab") as file:
            file.write(lines(session(340, agents=2)[300:]))
        await shown(app, pilot, lambda view: view.total == 340)
    assert "frustration" in settings.read_text()
    (undone,) = [line for line in heard.read_text().splitlines() if "CompensationRollback" in line]
    assert "steps=1" in undone
