"""What analyze and cost answered is given again only while nothing it depends on has changed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from bench.claude import lines
from core.folders import user_settings_file
from core.report import analysis
from core.store.kept_answers import kept_answers
from core.store.reading_cache import reading_cache_path
from tests.core.agents.samples import codex, codex_call, codex_meta, codex_output, codex_tokens, encoded
from tests.core.logs import log_lines
from tui.cli import main

Said = Callable[..., str]


@pytest.fixture
def log(home: Path) -> Path:
    """A log in a home of one's own."""
    path = home / "logs" / "good.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(islice(lines(1), 240)))
    return path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def run(*words: str) -> str:
        assert main(list(words)) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions that were run through the engine."""
    seen: list[str] = []
    real = analysis.analyse

    def noted(session, *more):  # type: ignore[no-untyped-def]
        seen.append(session.id)
        return real(session, *more)

    monkeypatch.setattr(analysis, "analyse", noted)
    return seen


@pytest.mark.parametrize("named", ["logs", "logs/good.jsonl"])
def test_an_unchanged_tree_is_not_run_again(log: Path, said: Said, runs: list[str], named: str) -> None:
    first = said("analyze", "--json", named)
    assert said("analyze", "--json", named) == first
    assert len(runs) == 1
    assert said("analyze", named) != first, "as a page: made from the same summary"
    assert len(runs) == 1


@pytest.mark.parametrize("words", [("analyze", "--json"), ("cost", "--json")], ids=" ".join)
@pytest.mark.parametrize("named", ["logs", "logs/s-1.jsonl", "logs/s-*.jsonl"])
def test_a_sub_agent_that_comes_and_goes_on_is_counted(
    home: Path, said: Said, words: tuple[str, ...], named: str
) -> None:
    folder = home / "logs"
    folder.mkdir()
    (folder / "s-1.jsonl").write_bytes(log_lines.session(3))
    told = [said(*words, named)]
    sub = folder / "s-1" / "subagents" / "agent-a1.jsonl"
    sub.parent.mkdir(parents=True)
    for calls in (2, 4):
        sub.write_bytes(log_lines.session(calls, first=50, agentId="a1", isSidechain=True))
        told.append(said(*words, named))
    assert len(set(told)) == 3


@pytest.mark.parametrize("words", [("analyze", "--json"), ("cost", "--json"), ("sessions", "--json")])
@pytest.mark.parametrize("named", ["2026/02", "2026/02/28"])
def test_a_sub_agent_outside_the_named_folder_is_counted(
    home: Path, said: Said, words: tuple[str, ...], named: str
) -> None:
    """A thread that Codex starts after midnight has its rollout in the next day's folder."""
    today, tomorrow = (home / "2026" / day for day in ("02/28", "03/01"))
    today.mkdir(parents=True)
    (today / "rollout-t1.jsonl").write_bytes(_rollout("t1", 2))
    told = [_without_age(said(*words, named))]
    tomorrow.mkdir(parents=True)
    for calls in (2, 4):
        (tomorrow / "rollout-kid.jsonl").write_bytes(_rollout("kid", calls, parent_thread_id="t1"))
        told.append(_without_age(said(*words, named)))
    assert len(set(told)) == 3


def _without_age(told: str) -> str:
    return re.sub(r'"age": [0-9.]+', "", told)


def _rollout(thread: str, calls: int, **fields: str) -> bytes:
    found = [codex_meta(0, thread, **fields), codex("event_msg", 1, type="user_message", message="go")]
    for number in range(calls):
        name = f"{thread}-{number}"
        found.append(codex_call(2 + number, name, "shell", {"command": ["make"]}))
        found.append(codex_output(2 + number, name, "ok"))
        found.append(codex_tokens(2 + number, 1000 * (number + 1), 0, 10 * (number + 1)))
    return b"".join(encoded(line) + b"\n" for line in found)


def _grown(log: Path) -> None:
    log.write_bytes(b"".join(islice(lines(1), 300)))


def _settings(_: Path) -> None:
    user_settings_file().parent.mkdir(parents=True)
    user_settings_file().write_text("[receptor.ambient.offset]\nfrustration = 0.01\n")


def _project(log: Path) -> None:
    (log.parent / ".nooscope.toml").write_text("[receptor.gate]\nrise = 0.3\n")


def _policy(_: Path) -> None:
    path = user_settings_file().with_name("affect-policy.toml")
    path.parent.mkdir(parents=True)
    path.write_text('name = "mine"\n')


@pytest.mark.parametrize("change", [_grown, _settings, _project, _policy])
def test_what_decides_an_answer_is_noticed(
    log: Path, said: Said, runs: list[str], change: Callable[[Path], None]
) -> None:
    said("analyze", "--json", str(log))
    change(log)
    changed = said("analyze", "--json", str(log))
    assert len(runs) == 2 or change is _project, "a project's setting may be one it has no say in"
    assert said("cost", "--forget") == "cached readings deleted\n"
    assert said("analyze", "--json", str(log)) == changed


def test_paths_below_the_home_folder_that_no_shell_expanded(
    log: Path, said: Said, capsys: pytest.CaptureFixture[str]
) -> None:
    Path.home().mkdir()
    log = log.rename(Path.home() / log.name)
    whole = said("analyze", "--json", "~/good.jsonl")
    log.write_bytes(b"".join(islice(lines(1), 40)))
    assert said("analyze", "--json", "~/good.jsonl") == said("analyze", "--json", str(log)) != whole
    for path in ("~/none.jsonl", "~nobody-of-that-name/none.jsonl", str(log.parent / "none.jsonl")):
        for command in ("analyze", "cost", "sessions", "recap"):
            assert main([command, path]) == 1
            told = capsys.readouterr()
            assert told.out == ""
            assert "none.jsonl: no such file" in told.err


def test_options_and_environment_decide_it_too(
    log: Path, said: Said, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said("analyze", "--json", str(log))
    said("analyze", "--json", "--set", "receptor.ambient.offset.frustration=0.01", str(log))
    assert len(runs) == 2
    monkeypatch.setenv("NOOSCOPE_RECEPTOR_AMBIENT_OFFSET_FRUSTRATION", "0.02")
    said("analyze", "--json", str(log))
    assert len(runs) == 3


def test_one_session_of_a_tree_that_grew_is_run_alone(home: Path, said: Said, runs: list[str]) -> None:
    folder = home / "logs"
    folder.mkdir()
    for seed in (1, 2):
        (folder / f"{seed}.jsonl").write_bytes(b"".join(islice(lines(seed), 120)))
    said("analyze", "--json", str(folder))
    (folder / "2.jsonl").write_bytes(b"".join(islice(lines(2), 200)))
    again = said("analyze", "--json", str(folder))
    assert len(runs) == 3
    assert said("cost", "--forget") == "cached readings deleted\n"
    assert said("analyze", "--json", str(folder)) == again


def test_what_was_said_of_a_fault_is_said_again(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _settings(log)
    user_settings_file().write_text("[receptor.ambient.offset]\nfrustration = 900\n")
    for _ in range(2):
        assert main(["analyze", "--json", str(log)]) == 0
        assert "frustration" in capsys.readouterr().err


def test_a_cache_that_is_switched_off_keeps_nothing(log: Path, said: Said, runs: list[str]) -> None:
    for _ in range(2):
        said("analyze", "--json", "--set", "timeline.cache.on=false", str(log))
    assert len(runs) == 2
    assert not reading_cache_path().exists() and not kept_answers().folder.exists()


_NEEDLESS = (
    *("core.settings", "core.engine.society.engine", "core.agents.registry", "core.logs.finder"),
    *("pydantic", "numpy", "textual", "rich", "asyncio", "platformdirs", "shutil", "tempfile", "subprocess"),
)
"""Nothing of this is needed to say again what was said before."""


@pytest.mark.parametrize("command", ["analyze", "cost", "sessions"])
def test_a_kept_answer_needs_no_settings_and_little_else(log: Path, said: Said, command: str) -> None:
    said(command, "--json", str(log.parent))
    code = (
        "import sys; from tui.cli import main; main(sys.argv[1:])\n"
        f"print([name for name in {_NEEDLESS!r} if name in sys.modules])"
    )
    words = [sys.executable, "-c", code, command, "--json", str(log.parent)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [("analyze", "--json"), ("analyze",), ("cost",)], ids=" ".join)
def test_a_kept_answer_is_said_again_without_the_library_it_was_made_with(
    log: Path, said: Said, words: tuple[str, ...]
) -> None:
    told = said(*words, str(log.parent))
    code = (
        "import sys; from tui.cli import main; main(sys.argv[1:])\n"
        "print({'msgspec', 'sqlite3', 'backports.zstd'} & set(sys.modules), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *words, str(log.parent)]
    # As Python knows it: readline may have put the width of a terminal into the real one.
    environment = dict(os.environ)
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert (done.stdout, done.stderr) == (told, "set()\n")
