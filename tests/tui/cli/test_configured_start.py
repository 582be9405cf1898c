"""Policies and rules of the person and of the project hold wherever a session is run."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.engine.society import Society
from core.live.fleet.roster import Roster
from core.live.source import Target
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.store.bookmarks import Bookmarks
from core.store.carry_over import CarryOverStore
from core.timeline import initial_state as begun
from core.timeline.initial_state import PLAIN, StartFiles, configured_start
from core.timeline.opening import Cache
from sample_sessions import samples
from tests.tui.conftest import shown, until
from tests.tui.fleet_sessions import NOW, begin
from tui.app import NooscopeApp
from tui.cli import main
from tui.cli.launch import run_app
from tui.demo import DemoApp, run_demo
from tui.screens.fleet import FleetScreen

SETTING = "receptor.ambient.offset.frustration"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with folders of their own, in a project."""
    for name in ("config", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "config" / "settings.toml"))
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def lay_down(folder: Path, policy: str = "strict", sensitivity: object = 0.9) -> None:
    """The person's policy and a project's rules."""
    (folder.parent / "config" / "affect-policy.toml").write_text(f'name = "{policy}"\n')
    entry = {"id": "path_suggest", "trigger": {"sensitivity": sensitivity}}
    (folder / ".nooscope-rules.json").write_text(json.dumps({"methods": [entry]}))


def spoil(home: Path) -> None:
    """A policy and a rule file with one wrong field each."""
    lay_down(home / "project", sensitivity="high")
    (home / "config" / "affect-policy.toml").write_text("[fields.persistence]\nceiling = 7\n")


FAULTS = (
    "affect-policy.toml: fields.persistence.ceiling is 7",
    'methods[0] (path_suggest): trigger.sensitivity is "high"; it must be a number from 0 to 1',
)


def sensitivity(society: Society) -> float:
    method = society.engine().response.rules.method("path_suggest")
    assert method is not None
    return method.trigger.sensitivity


def test_nothing_laid_down_is_a_plain_beginning() -> None:
    assert configured_start() == (PLAIN, ())


def test_the_persons_policy_and_the_projects_more_sensitive_rule_hold(home: Path) -> None:
    lay_down(home / "project", "mine")
    (home / "project" / ".nooscope-policy.toml").write_text('name = "theirs"\n')
    policy = configured_start().initial.policy
    assert policy is not None and policy.name == "mine"
    assert sensitivity(configured_start().initial.society(Settings())) == 0.9


def test_a_less_sensitive_rule_of_a_project_is_named_and_left_out(home: Path) -> None:
    lay_down(home / "project", "mine", 0.1)
    found = configured_start()
    assert sensitivity(found.initial.society(Settings())) == 0.5
    assert found.faults == (
        f"{home / 'project' / '.nooscope-rules.json'}:1: path_suggest: trigger.sensitivity: ignored; "
        "a project may only raise it",
    )


def test_a_fault_is_named_and_the_rest_holds(home: Path) -> None:
    spoil(home)
    found = configured_start()
    assert found.initial.policy is None
    assert found.initial.rules is None
    for fault in FAULTS:
        assert any(fault in said for said in found.faults), fault


@pytest.fixture
def minds(monkeypatch: pytest.MonkeyPatch) -> list[Society]:
    """Every society that begins anywhere."""
    made: list[Society] = []

    def make(*given: Any, **named: Any) -> Society:
        made.append(Society(*given, **named))
        return made[-1]

    monkeypatch.setattr(begun, "Society", make)
    return made


COMMANDS = [
    ("analyze", "LOG"),
    ("frame", "LOG"),
    ("diff", "LOG"),
    ("whatif", "LOG", "--set", f"{SETTING}=0.2"),
    ("recap", "LOG"),
    ("bookmarks", "LOG"),
    ("sweep", "LOG", "--set", f"{SETTING}=0.1:0.2:2"),
    ("watch", "LOG", "--headless", "--idle", "0.05"),
    ("watch", "LOG"),
    ("replay", "LOG"),
    ("fleet", "LOG", "--once", "--within", "8760"),
    ("demo",),
]


def ran(words: tuple[str, ...], log: Path, *more: str) -> int:
    return main([str(log) if word == "LOG" else word for word in words] + list(more))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_begins_alike(
    words: tuple[str, ...], home: Path, log: Path, minds: list[Society], capsys: pytest.CaptureFixture[str]
) -> None:
    lay_down(home / "project")
    assert ran(words, log) == 0
    assert minds
    assert {society.engine().affect.policy.name for society in minds} == {"strict"}
    assert {sensitivity(society) for society in minds} == {0.9}
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    lay_down(elsewhere, "other", 0.8)
    minds.clear()
    CarryOverStore().clear()
    assert ran(words, log, "--project", str(elsewhere)) == 0
    assert {society.engine().affect.policy.name for society in minds} == {"other"}
    assert {sensitivity(society) for society in minds} == {0.8}
    assert "nooscope: /" not in capsys.readouterr().err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_names_a_fault_and_goes_on(
    words: tuple[str, ...], home: Path, log: Path, minds: list[Society], capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(home)
    assert ran(words, log) == 0
    said = capsys.readouterr().err
    for fault in FAULTS:
        assert said.count(fault) == 1
    assert {society.engine().affect.policy.name for society in minds} == {"built-in"}


def test_no_prior_leaves_policy_and_rules_in_force(home: Path, log: Path, minds: list[Society]) -> None:
    lay_down(home / "project")
    assert ran(("watch", "LOG", "--headless", "--idle", "0.05", "--no-prior"), log) == 0
    assert [society.engine().affect.policy.name for society in minds] == ["strict"]
    assert not (home / "xdg_data_home" / "nooscope" / "receptor-prior.json").exists()


Make = Callable[..., NooscopeApp]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every notice an app gives, however long ago."""
    given: list[str] = []

    def notify(_: NooscopeApp, message: str, **__: Any) -> None:
        given.append(message)

    monkeypatch.setattr(NooscopeApp, "notify", notify)
    return given


@pytest.fixture
def app_here(tmp_path: Path, still: Settings) -> Make:
    """The app as it is run for a person, on folders of its own."""

    def make(path: Path, *, live: bool, settings: Settings | None = None) -> NooscopeApp:
        return NooscopeApp(
            Target(path, live),
            settings or still,
            cache=Cache(tmp_path / "cache", 10**9),
            bookmarks=lambda name: Bookmarks(name, tmp_path / "bookmarks"),
            theme_folder=tmp_path / "themes",
            live=True,
            begin=StartFiles().read,
        )

    return make


@pytest.mark.parametrize("live", [True, False])
async def test_a_session_on_the_screen(home: Path, log: Path, app_here: Make, live: bool) -> None:
    lay_down(home / "project")
    app = app_here(log, live=live)
    async with app.run_test() as pilot:
        view = await shown(app, pilot, lambda view: view.total == 300 and view.loading is None)
        assert view.frame.affect.policy == "strict"
        assert app.recording is not None and sensitivity(app.recording.society) == 0.9


@pytest.mark.parametrize("live", [True, False])
async def test_faults_are_told_on_the_screen(
    home: Path, log: Path, app_here: Make, live: bool, told: list[str]
) -> None:
    spoil(home)
    app = app_here(log, live=live)
    async with app.run_test() as pilot:
        view = await shown(app, pilot, lambda view: view.total == 300 and view.loading is None)
        assert view.frame.affect.policy == "built-in"
        for fault in FAULTS:
            assert len([said for said in told if fault in said]) == 1
        before = list(told)
        app.open(Target(log, live))
        await shown(app, pilot, lambda view: view.total == 300 and view.loading is None)
        assert told == before


@pytest.mark.parametrize("sample", [False, True])
def test_files_that_turn_bad_under_a_screen_keep_their_last_good_word(
    sample: bool, home: Path, log: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    apps: list[NooscopeApp] = []
    monkeypatch.setattr(NooscopeApp, "run", lambda app: apps.append(app))
    monkeypatch.setattr("tui.feed.notices.end_with_terminal", lambda: None)
    monkeypatch.setattr("tui.demo.end_with_terminal", lambda: None)
    monkeypatch.setattr(NooscopeApp, "call_later", lambda _, call, *given: call(*given))
    lay_down(home / "project")
    if sample:
        run_demo(samples()[0], Settings())
    else:
        run_app(Target(log), Settings(), Namespace(project=None, plain=True, assignments=[], faults=()))
    opening = apps[0]._opening
    assert opening.initial_states(Settings()).initial == configured_start().initial
    good = configured_start().initial
    spoil(home)
    assert opening.initial_states(Settings()).initial == good
    for fault in (*FAULTS, ".nooscope-rules.json: its last valid content stays in use"):
        assert len([said for said in told if fault in said]) == 1
    lay_down(home / "project", "other", 0.8)
    mended = opening.initial_states(Settings()).initial
    assert mended == configured_start().initial != good
    for file in (*(home / "project").iterdir(), *(home / "config").iterdir()):
        file.unlink()
    assert opening.initial_states(Settings()).initial == PLAIN


def test_a_policy_that_turns_bad_is_said_to_stay_while_its_file_is_there(home: Path) -> None:
    files, stays = StartFiles(), f"{home / 'config' / 'affect-policy.toml'}: its last valid content stays in use"
    spoil(home)
    never_good = files.read()
    assert never_good.initial.policy is None and stays not in never_good.faults
    lay_down(home / "project")
    good = files.read().initial.policy
    spoil(home)
    for _ in range(2):
        found = files.read()
        assert found.initial.policy == good and found.faults[-1] == stays
    (home / "config" / "affect-policy.toml").unlink()
    assert files.read().initial.policy is None


def test_another_rule_file_that_comes_to_the_project_is_read(home: Path) -> None:
    files = StartFiles()
    plain, hidden = home / "project" / "receptor-rules.json", home / "project" / ".nooscope-rules.json"
    for path, given in ((plain, 0.7), (hidden, 0.9)):
        entry = {"id": "path_suggest", "trigger": {"sensitivity": given}}
        path.write_text(json.dumps({"methods": [entry]}))
        assert sensitivity(files.read().initial.society(Settings())) == given


def _has_kept(home: Path, least: int) -> bool:
    """Whether so many recordings are in the cache, which is written once the screen is drawn."""
    return len(list((home / "cache").glob("*.recording"))) >= least


async def test_the_cache_tells_policies_apart(home: Path, log: Path, app_here: Make) -> None:
    settings = resolve([Layer("test", (Given("timeline.cache.least", 0),))]).settings
    for policy, kept in (("built-in", 1), ("strict", 2), ("built-in", 2)):
        if policy == "strict":
            lay_down(home / "project")
        else:
            for file in (*(home / "project").iterdir(), *(home / "config").iterdir()):
                file.unlink()
        app = app_here(log, live=False, settings=settings)
        async with app.run_test() as pilot:
            view = await shown(app, pilot, lambda view: view.total == 300 and view.loading is None)
            assert view.frame.affect.policy == policy
            await until(pilot, partial(_has_kept, home, kept))
        assert _has_kept(home, kept) and not _has_kept(home, kept + 1)


async def test_a_demo_on_the_screen(home: Path, still: Settings) -> None:
    lay_down(home / "project")
    app = DemoApp(samples()[0], still, theme_folder=home / "themes", begin=configured_start)
    async with app.run_test() as pilot:
        view = await shown(app, pilot, lambda view: view.loading is None)
        assert view.frame.affect.policy == "strict"


async def test_the_fleet_on_the_screen(home: Path, still: Settings, minds: list[Society], told: list[str]) -> None:
    spoil(home)
    begin(home, "flows", 1, 4.0).write()
    roster = Roster(still, {}, home, wall=lambda: NOW)
    app = NooscopeApp(None, still, fleet=roster, theme_folder=home / "themes", begin=partial(configured_start, None))
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, FleetScreen) and bool(minds))
        assert {society.engine().affect.policy.name for society in minds} == {"built-in"}
        for fault in FAULTS:
            assert len([said for said in told if fault in said]) == 1
