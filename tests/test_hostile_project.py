"""Every command and every way to open a session in a folder whose files mean harm."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.engine.response.rules import built_in
from core.report.process_pool import shared_out
from core.settings import Settings
from core.settings.draft import settings_toml
from core.settings.group import Tunable
from core.settings.layers import tunables
from tests.audit import Seen, looking
from tests.tui.conftest import until
from tests.tui.fleet_sessions import Log
from tui.app import NooscopeApp
from tui.cli import COMMANDS, main
from tui.cli.commands.serve import viewer_command

HARM: dict[str, Any] = {
    "response.notices.command": ["touch", "marker"],
    "response.notices.webhook": "http://127.0.0.1:9/",
    "response.notices.quiet_from": "00:00",
    "response.notices.quiet_until": "23:59",
    "response.notices.muted": [*(method.id for method in built_in().methods), "question", "done"],
    "response.persona.folder": "OUTSIDE/personas",
    "ingest.tables.tools": "OUTSIDE/secret.toml",
    "ingest.tables.models": "OUTSIDE/missing.toml",
    "response.loops.tools": {"Bash": {"repeat": 0, "failing": 0, "retest": 0}},
    "governor.override": {"max_steps": 100_000.0},
    "screen.keymap": {"quit": "x"},
}


def harm(each: Tunable, *, high: bool) -> Any:
    """A value as far from the usual one as it may be."""
    if each.name in HARM:
        return HARM[each.name]
    if each.kind == "switch":
        return not each.default
    if each.kind == "choice":
        return next(choice for choice in each.choices if choice != each.default)
    if each.kind == "text":
        return "23:59" if "quiet" in each.name else "nonsense"
    if each.kind == "table":
        return {} if isinstance(each.default, dict) else [] if each.default else ["*"]
    bound = each.high if high or each.low == each.default else each.low
    assert bound is not None
    return int(bound) if each.kind == "integer" else float(bound)


def harmful(outside: Path, *, high: bool) -> str:
    """Every setting there is, turned against the person."""
    values = {
        each.name: harm(each, high=high)
        for each in tunables().values()
        if not (each.trust.way == "freely" or each.trust.allows(harm(each, high=high), each.default))
    }
    known = [each for each in tunables().values() if each.name in values]
    return settings_toml(known, values).replace("OUTSIDE", str(outside))


@pytest.fixture(params=["lowest", "highest"])
def project(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all four kinds of files, each as hostile as it can be; a program runs in it."""
    return lay(home, monkeypatch, high=request.param == "highest")


def lay(home: Path, monkeypatch: pytest.MonkeyPatch, *, high: bool) -> Path:
    project, outside = home / "project", home / "outside"
    (project / ".nooscope" / "profiles").mkdir(parents=True)
    outside.mkdir()
    for folder in ours(home):
        (folder / "nooscope").mkdir(parents=True, exist_ok=True)
    (outside / "secret.toml").write_text("[tools.claude_code]\nfile_read = ['Bash']\n")
    text = harmful(outside, high=high)
    (project / ".nooscope.toml").write_text(text)
    (project / ".nooscope" / "profiles" / "evil.toml").write_text(text)
    affect = [line.replace("[affect.", "[") for line in text[text.index("[affect.") :].splitlines()]
    (project / ".nooscope-policy.toml").write_text("\n".join(affect[: _end(affect)]) + "\n")
    methods: list[dict[str, Any]] = [
        {
            "id": method.id,
            "enabled": False,
            "mode": "background" if method.mode != "background" else "auto",
            "trigger": {"sensitivity": 0.0, "threshold": 1.0, "states": ["idle"], "signals": ["halt"]},
            "action": {"say": "All is well.", "kind": "done"},
        }
        for method in built_in().methods
    ]
    methods.append(
        {
            "id": "done",
            "type": "status_notify",
            "mode": "notify",
            "trigger": {"signals": ["any"], "states": ["any"], "sensitivity": 1.0, "frequency": "low"},
        }
    )
    (project / ".nooscope-rules.json").write_text(json.dumps({"methods": methods}, indent=1))
    monkeypatch.chdir(project)
    return project


def _end(lines: list[str]) -> int:
    """Where the next room begins."""
    return next((place for place, line in enumerate(lines) if line.startswith("[response")), len(lines))


def ours(home: Path) -> tuple[Path, ...]:
    return tuple(home / f"xdg_{name}_home" for name in ("config", "data", "cache"))


def unharmed(seen: Seen, home: Path) -> None:
    assert seen.started == []
    assert seen.asked == []
    assert seen.outside(*ours(home)) == []
    assert [path for path in seen.read if path.is_relative_to(home / "outside")] == []
    assert not (home / "project" / "marker").exists()


def story(home: Path, number: int = 1) -> Log:
    """A session of this minute that goes round in circles and then asks the person."""
    log = Log(home / "home", "circles", number, time.time() - 100)
    log.prompt()
    log.work(3, gap=2.0)
    log.work(24, gap=2.0, same=True)
    return log


@pytest.fixture
def log(home: Path) -> Path:
    told = story(home)
    told.call("AskUserQuestion", questions=[])
    return told.write().path


WORDS: list[tuple[str, ...]] = [
    (),
    ("watch", "LOG"),
    ("watch", "latest", "--headless", "--idle", "0.05"),
    ("watch", "LOG", "--headless", "--idle", "0.05", "--all"),
    ("watch", "LOG", "--headless", "--idle", "0.05", "--hooks"),
    ("replay", "LOG"),
    ("replay", "latest"),
    ("demo",),
    ("fleet", "--once"),
    ("fleet", "--json"),
    ("fleet", "LOG", "--once"),
    ("sessions",),
    ("sessions", "LOG"),
    ("analyze", "LOG"),
    ("export", "LOG"),
    ("frame", "LOG"),
    ("diff", "LOG"),
    ("changes", "LOG"),
    ("compare", "LOG", "LOG"),
    ("recap", "LOG"),
    ("tree", "LOG"),
    ("bookmarks", "LOG"),
    ("whatif", "LOG"),
    ("sweep", "LOG", "--set", "receptor.ambient.silence=60:90:2", "--jobs", "1"),
    ("labels",),
    ("rules",),
    ("rules", "--json"),
    ("settings",),
    ("settings", "--changed"),
    ("doctor",),
    ("completion", "bash"),
    ("cost", "LOG"),
    ("search", "word", "--in", "LOG"),
    ("trail", "LOG"),
    ("advice",),
    ("extensions",),
    ("events", "LOG"),
    ("why", "LOG"),
]
SERVING = {"listen", "ship", "serve", "mcp", "statusline", "evaluate", "permits", "hooks", "query", "acp"}
"""Commands that serve others, or read no settings; each has tests of its own."""


def test_no_command_is_forgotten_here() -> None:
    assert {words[0] for words in WORDS if words} | SERVING == set(COMMANDS)


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_hostile_project_does_nothing(
    words: tuple[str, ...], project: Path, log: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with looking() as seen:
        code = main([str(log) if word == "LOG" else word for word in words])
    unharmed(seen, home)
    said = capsys.readouterr()
    assert code == (1 if words[:1] == ("doctor",) else 0), said.err
    refused = [line for line in said.err.splitlines() if ".nooscope" in line]
    assert len(refused) == len(set(refused))
    reads = words and words[0] not in ("labels", "completion", "doctor", "extensions") and words != ("rules", "--json")
    if reads or not words:
        line = [each for each in refused if "response.notices.command" in each]
        assert len(line) == 1 and f"{project / '.nooscope.toml'}:" in line[0]
        assert "only your own settings may set it" in line[0]


@pytest.mark.parametrize("words", [("settings", "--changed", "--json"), ("doctor", "--json")], ids=" ".join)
def test_nothing_of_it_holds(words: tuple[str, ...], project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(list(words))
    said = json.loads(capsys.readouterr().out)
    changed = said["settings"]["changed"] if words[0] == "doctor" else said["settings"]
    assert not changed
    complaints = said["settings"]["complaints"] if words[0] == "doctor" else said["complaints"]
    if words[0] == "settings":
        own = [each for each in complaints if each["origin"] == str(project / ".nooscope.toml")]
        assert len(own) > 600
        assert len({each["name"] for each in own}) == len(own)
        assert all(each["line"] > 0 for each in own)
    else:
        assert any(".nooscope-rules.json:" in each for each in complaints)


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(words) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [{name: value for name, value in each.items() if name != "at"} for each in found]


def test_no_alert_is_lost_without_a_screen(
    home: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["watch", "--headless", str(log), "--all", "--json", "--no-prior", "--idle", "0.2"]
    before = told(words, capsys)
    assert {"needs_you", "risk"} <= {notice["kind"] for notice in before}
    assert "question" in {notice.get("rule") for notice in before}
    lay(home, monkeypatch, high=True)
    assert told(words, capsys) == before


def test_the_same_words_of_the_person_do_run_and_send(home: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness sees what it looks for."""
    mine = home / "mine.toml"
    mine.write_text('[response.notices]\ncommand = ["touch", "marker"]\nwebhook = "http://127.0.0.1:9/"\nretries = 0\n')
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(mine))
    with looking() as seen:
        assert main(["watch", "--headless", str(log), "--idle", "0.2"]) == 0
    assert seen.started and seen.asked
    assert (home / "marker").exists()


def test_the_environment_is_the_persons(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NOOSCOPE_RESPONSE_NOTICES_DONE", "false")
    assert main(["settings", "--changed", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["settings"]
    assert (row["name"], row["value"], row["origin"]) == ("response.notices.done", False, "environment")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[NooscopeApp]]:
    """The apps that commands would show, were this a terminal."""
    apps: list[NooscopeApp] = []
    monkeypatch.setattr("tui.cli.launch.has_screen", lambda: True)
    monkeypatch.setattr(NooscopeApp, "run", lambda app: apps.append(app))
    yield apps


def heard(app: NooscopeApp) -> set[str]:
    """The alerts on the screen, without their figures."""
    return {
        word
        for notice in app._notifications
        for word in ("circles", "same error", "needs you")
        if word in notice.message.lower() or word in str(notice.title).lower()
    }


SCREENS: list[tuple[str, ...]] = [(), ("watch", "LOG"), ("watch", "latest"), ("fleet",)]


@pytest.mark.parametrize("words", SCREENS, ids=" ".join)
async def test_a_live_session_on_the_screen(
    words: tuple[str, ...], home: Path, shown: list[NooscopeApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = story(home).write()
    lay(home, monkeypatch, high=True)
    with looking() as seen:
        assert main([str(log.path) if word == "LOG" else word for word in words]) == 0
        (app,) = shown
        assert app.settings.response == Settings().response
        async with app.run_test(size=(120, 40)) as pilot:
            if words == ("fleet",):
                await until(pilot, lambda: bool(getattr(app.screen, "rows", ())))
                await pilot.press("enter")
            await until(pilot, lambda: app.view is not None and app.view.total > 20)
            await until(pilot, lambda: "circles" in heard(app))
            refused = [each.message for each in app._notifications if "rules" in each.message]
            assert len(refused) == 4 and "76 more faults" in refused[-1]
    unharmed(seen, home)


@pytest.mark.parametrize("words", [("replay", "LOG"), ("demo",)], ids=" ".join)
async def test_a_film_on_the_screen(
    words: tuple[str, ...], home: Path, shown: list[NooscopeApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = story(home).write()
    lay(home, monkeypatch, high=False)
    with looking() as seen:
        assert main([str(log.path) if word == "LOG" else word for word in words]) == 0
        (app,) = shown
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.view is not None and app.view.total > 20)
    unharmed(seen, home)


def test_a_projects_policy_may_only_narrow(
    home: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".nooscope-policy.toml").write_text(
        'name = "theirs"\n[fields.persistence]\nceiling = 0.8\nfloor = 0.01\n[fields.escalation]\nceiling = 0.8\n'
    )
    assert main(["settings", "--changed", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["value"]) for row in said["settings"]] == [("affect.fields.persistence.ceiling", 0.8)]
    assert [(each["name"], each["line"]) for each in said["complaints"]] == [
        ("affect.fields.persistence.floor", 4),
        ("affect.fields.escalation.ceiling", 6),
    ]


def modules_at(project: Path, marker: Path) -> None:
    """Python modules of the names we import, each of which would leave a mark."""
    for name in ("tui", "core", "textual", "multiprocessing", "re", "signal", "msgspec", "pickle"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text(f"open({str(marker)!r}, 'a').write({name!r})\n")


def test_a_served_viewer_imports_nothing_of_the_project(home: Path) -> None:
    modules_at(home / "project", home / "marker")
    words = viewer_command(["demo", "--list"])
    done = subprocess.run(words, cwd=home / "project", capture_output=True, check=False)
    assert done.returncode == 0 and done.stdout
    assert not (home / "marker").exists()


def test_helper_processes_import_nothing_of_the_project(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules_at(home / "project", home / "marker")
    monkeypatch.chdir(home / "project")
    stop = threading.Event()
    beside = threading.Thread(target=stop.wait)
    beside.start()
    try:
        assert list(shared_out(1, abs, [-1, -2])) == [1, 2]
    finally:
        stop.set()
        beside.join()
    assert not (home / "marker").exists()
    assert "PYTHONSAFEPATH" not in os.environ
