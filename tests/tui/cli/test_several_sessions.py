"""A file that holds several sessions: one is named, or the newest is taken and the others are told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.live.driver import open_recording
from core.live.source import Target
from core.settings import Settings
from core.timeline.run_inputs import InitialStates
from tui.cli import launch, main
from tui.cli.commands.watch import Watch
from tui.cli.recordings import split_path

_HISTORY = "".join(
    f"\n# aider chat started at 2026-03-0{day} 10:00:00\n\n#### mend mill {day}  \n\nDone.\n" for day in (1, 2, 3)
)
_SECOND = "2026-03-02T10-00-00"
_NEWEST = "2026-03-03T10-00-00"


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "user.toml"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "history.md"
    path.write_text(_HISTORY)
    return path


@pytest.mark.parametrize("live", [False, True])
def test_the_newest_is_opened_and_the_others_are_told_of(history: Path, live: bool) -> None:
    driver = open_recording(Target(history, live), InitialStates(Settings()))
    assert driver.source.session is not None
    assert driver.source.session.id == _NEWEST
    assert (
        "history.md contains 3 sessions, and this is the newest; history.md#SESSION opens another" in driver.problems()
    )


def test_one_that_is_named_is_opened_without_a_word(history: Path) -> None:
    driver = open_recording(Target(history, False, _SECOND), InitialStates(Settings()))
    assert driver.source.session is not None
    assert driver.source.session.id == _SECOND
    assert driver.problems() == []


def test_a_path_names_a_session(history: Path) -> None:
    """Unless a file is called so, or none is there yet."""
    assert split_path(f"{history}#{_SECOND}") == (str(history), _SECOND)
    assert split_path(str(history)) == (str(history), "")
    assert split_path("coming#1.jsonl") == ("coming#1.jsonl", "")
    assert split_path("coming.jsonl") == ("coming.jsonl", "")
    odd = history.with_name("history.md#x")
    odd.write_text("")
    assert split_path(str(odd)) == (str(odd), "")


def test_replay_takes_the_session_that_is_named(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a screen it prints that one alone."""
    assert main(["replay", f"{history}#{_SECOND}"]) == 0
    told = capsys.readouterr().out
    assert _SECOND in told
    assert _NEWEST not in told
    assert main(["replay", str(history), "--session", _SECOND]) == 0
    assert capsys.readouterr().out == told


def test_replay_names_the_sessions_there_are(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", f"{history}#nobody"]) == 2
    assert f"has no session 'nobody'; available: 2026-03-01T10-00-00, {_SECOND}" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--headless"]])
def test_watch_names_the_sessions_there_are(history: Path, capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    assert main(["watch", f"{history}#nobody", *more]) == 2
    assert f"has no session 'nobody'; available: 2026-03-01T10-00-00, {_SECOND}" in capsys.readouterr().err


def test_a_watch_without_a_screen_follows_the_session(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def run(watch: Watch) -> int:
        watch.driver.source.poll(99)
        seen.append(watch.driver.session)
        return 0

    monkeypatch.setattr(Watch, "run", run)
    assert main(["watch", f"{history}#{_SECOND}", "--headless"]) == 0
    assert seen == [_SECOND]


@pytest.mark.parametrize("command", ["replay", "watch"])
def test_the_screen_is_given_the_session(history: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    seen: list[Target | None] = []
    monkeypatch.setattr(launch, "has_screen", lambda: True)

    def run_app(target: Target | None, *_: object, **__: object) -> int:
        seen.append(target)
        return 0

    monkeypatch.setattr(launch, "run_app", run_app)
    assert main([command, f"{history}#{_SECOND}"]) == 0
    [target] = seen
    assert target is not None
    assert (target.path, target.session, target.live) == (history, _SECOND, command == "watch")
