"""Every command with wrong, missing, huge, binary and unreadable input, and where nothing can be kept."""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.terminals import NOOSCOPE
from tui.cli import COMMANDS, main

SWEPT = "receptor.ambient.silence=60:90:2"
ON_A_LOG: dict[str, tuple[str, ...]] = {
    "watch": ("watch", "{}"),
    "replay": ("replay", "{}"),
    "sessions": ("sessions", "{}"),
    "analyze": ("analyze", "{}"),
    "export": ("export", "{}"),
    "frame": ("frame", "{}"),
    "diff": ("diff", "{}"),
    "changes": ("changes", "{}"),
    "compare": ("compare", "{}", "{}"),
    "recap": ("recap", "{}"),
    "why": ("why", "{}"),
    "events": ("events", "{}"),
    "tree": ("tree", "{}"),
    "bookmarks": ("bookmarks", "{}"),
    "whatif": ("whatif", "{}"),
    "trail": ("trail", "{}"),
    "sweep": ("sweep", "{}", "--set", SWEPT, "--jobs", "1"),
}
ELSEWISE: dict[str, tuple[str, ...]] = {"import": ("bookmarks", "--import", "{}"), "rules": ("rules", "check", "{}")}
WITHOUT_A_LOG = {
    *("demo", "fleet", "listen", "labels", "rules", "settings", "doctor", "completion", "extensions"),
    *("hooks", "advice", "permits", "statusline", "mcp", "ship", "query", "serve", "search", "cost", "evaluate", "acp"),
}


pytestmark = pytest.mark.usefixtures("home")


def filled(words: tuple[str, ...], path: object) -> list[str]:
    return [word.replace("{}", str(path)) for word in words]


def test_no_command_is_forgotten_here() -> None:
    assert set(ON_A_LOG) | WITHOUT_A_LOG == set(COMMANDS)


def _missing(_: Path) -> None:
    return


def _empty(path: Path) -> None:
    path.touch()


def _binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 400)


def _half_binary(path: Path) -> None:
    path.write_bytes(b'{"type":"user"\0\xff' + bytes(range(256)) * 400)


def _hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50_000_000)


def _deep(path: Path) -> None:
    path.write_bytes(b"[" * 100_000 + b"\n" + b'{"a":' * 100_000)


def _other(path: Path) -> None:
    path.write_text('{"name": "nooscope", "version": 1}\n')


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("command", [*ON_A_LOG, *ELSEWISE])
@pytest.mark.parametrize("make", [_missing, _empty, _binary, _half_binary, _hole, _deep, _other, _folder, _loop])
def test_what_is_no_log_is_said_in_one_line(command: str, make: Callable[[Path], None], home: Path, run: Run) -> None:
    path = home / "strange.jsonl"
    make(path)
    code, _, said = run(*filled({**ON_A_LOG, **ELSEWISE}[command], path))
    assert code == 1
    assert said.startswith("nooscope: ") and "Traceback" not in said
    assert 1 <= len(said.strip().splitlines()) <= 2


@pytest.mark.parametrize("command", [*ON_A_LOG, *ELSEWISE])
def test_a_pipe_or_a_device_never_hangs_a_command(command: str, run: Run) -> None:
    code, _, said = run(*filled({**ON_A_LOG, **ELSEWISE}[command], "/dev/null"))
    assert (code, said.startswith("nooscope: ")) == (1, True)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
@pytest.mark.parametrize("command", ELSEWISE)
def test_an_endless_file_ends(command: str, run: Run) -> None:
    code, _, said = run(*filled(ELSEWISE[command], "/dev/zero"))
    assert code == 1
    assert "too large" in said or "not a regular file" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
@pytest.mark.parametrize("command", ON_A_LOG)
def test_a_log_without_permission(command: str, log: Path, run: Run) -> None:
    log.chmod(0)
    code, _, said = run(*filled(ON_A_LOG[command], log))
    assert code == 1
    assert "no permission" in said


@pytest.mark.parametrize("command", ON_A_LOG)
def test_damage_in_the_middle_costs_only_itself(command: str, log: Path, run: Run) -> None:
    whole = log.read_bytes()
    cut = whole.index(b"\n", len(whole) // 2) + 1
    log.write_bytes(whole[:cut] + b"\xff\xfe\0{\n" + b"\0" * 5000 + b"\n[[[[\n" + whole[cut:])
    code, out, said = run(*filled(ON_A_LOG[command], log))
    assert code == 0
    assert out and "Traceback" not in said


def test_damage_is_counted(log: Path, run: Run) -> None:
    log.write_bytes(log.read_bytes() + b"no json\n")
    _, _, said = run("export", str(log))
    assert "skipped: 1 not JSON" in said


@pytest.mark.parametrize("command", ["analyze", "export", "frame", "tree", "sessions"])
def test_a_line_and_a_hole_of_fifty_megabytes(command: str, log: Path, run: Run) -> None:
    _, before, _ = run(*filled(ON_A_LOG["frame"], log))
    with log.open("ab") as file:
        file.write(b'{"type":"progress","data":"' + b"x" * 50_000_000 + b'"}\n')
        file.truncate(file.tell() + 50_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
    code, out, said = run(*filled(ON_A_LOG[command], log))
    assert code == 0
    assert "Traceback" not in said
    assert out == before if command == "frame" else out


@pytest.mark.parametrize("command", ON_A_LOG)
def test_a_name_in_another_encoding(command: str, log: Path, run: Run) -> None:
    path = log.with_name("\udcff\udcfe.jsonl")
    try:
        log.rename(path)
    except OSError:
        pytest.skip("this disk has only names in UTF-8")
    code, out, said = run(*filled(ON_A_LOG[command], path))
    assert (code, bool(out), "Traceback" in said) == (0, True, False)
    if command in ("analyze", "sessions", "frame", "tree", "whatif", "sweep"):
        assert run(*filled(ON_A_LOG[command], path), "--json")[0] == 0


def test_such_a_name_can_be_kept_out_of_the_cache(log: Path, run: Run) -> None:
    path = log.with_name("\udcff.jsonl")
    try:
        log.rename(path)
    except OSError:
        pytest.skip("this disk has only names in UTF-8")
    assert run("frame", str(path), "--set", "timeline.cache.least=0")[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (("dance",), 2, "unknown command"),
        (("--dance",), 2, "unrecognized arguments"),
        (("analyze",), 2, "required"),
        (("analyze", "{}", "--jobs", "0"), 2, "above 0"),
        (("analyze", "{}", "--set", "x=1"), 2, "no such setting"),
        (("analyze", "{}", "--set", "receptor.ambient=1"), 2, "a group of settings"),
        (("analyze", "{}", "--set", "ingest.tables.tools=/nowhere/x"), 0, "/nowhere/x"),
        (("analyze", "{}", "--metrics", "/nowhere/x"), 1, "cannot be written"),
        (("export", "{}", "-o", "/nowhere/x"), 2, "cannot write"),
        (("export", "{}", "--format", "html", "-o", "/nowhere/x"), 2, "cannot write"),
        (("export", "{}", "--format", "otlp", "-o", "/nowhere/x"), 2, "cannot write"),
        (("export", "{}", "--format", "otlp", "-o", "{}"), 2, "the log itself"),
        (("export", "{}", "--otlp", "nowhere"), 2, "not an address"),
        (("export", "{}", "-o", "{}"), 2, "the log itself"),
        (("frame", "{}", "--at", "soon"), 2, "is not a place"),
        (("frame", "{}", "--agent", "nobody"), 2, "no agent is named 'nobody'"),
        (("diff", "{}", "--agent", "nobody"), 2, "available: main"),
        (("recap", "{}", "--tokens", "-5"), 2, "above 0"),
        (("replay", "{}", "--speed", "nan"), 2, "0.25 to 64"),
        (("watch", "{}", "--headless", "--idle", "nan"), 2, "not a number of seconds"),
        (("bookmarks", "{}", "--add", ""), 1, "needs a name"),
        (("bookmarks", "--export", "/nowhere/x"), 1, "/nowhere/x"),
        (("bookmarks", "--import", ""), 1, "directory"),
        (("tree", "{}", "--find", "zz"), 1, "begins with zz"),
        (("sweep", "{}", "--set", "receptor.ambient.silence=90:60:3"), 2, "a lower and a higher"),
        (("fleet", "nowhere"), 1, "nowhere: no such file"),
        (("fleet", "--within", "nan"), 2, "hours from"),
        (("demo", "nowhere"), 2, "not a demo"),
        (("completion",), 2, "name a shell"),
        (("labels", "--out", "/dev/null/x"), 1, "cannot be written"),
        (("watch", "latest"), 1, "no session found"),
        (("replay", "latest"), 1, "no session found"),
    ],
)
def test_wrong_words(words: tuple[str, ...], code: int, part: str, log: Path, run: Run) -> None:
    got, _, said = run(*filled(words, log))
    assert (got, part in said, "Traceback" in said) == (code, True, False), said


def test_settings_that_cannot_be_read_cost_only_themselves(
    home: Path, log: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (".nooscope.toml", ".nooscope-rules.json", "mine.toml"):
        (home / name).write_bytes(b"\xff\xfe{")
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(home / "mine.toml"))
    monkeypatch.setenv("NOOSCOPE_NONSENSE", "1")
    code, out, said = run("analyze", str(log))
    assert code == 0 and out
    for name in (".nooscope.toml", ".nooscope-rules.json", "mine.toml", "NOOSCOPE_NONSENSE"):
        assert name in said


def test_without_a_home(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert run("sessions") == (1, "", "nooscope: the home folder is unknown; set HOME\n")
    assert run("--version")[0] == 0


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_home_is_none(blank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where HOME is not set at all, the system's list of users says where it is."""
    seen: list[str | None] = []
    monkeypatch.setenv("HOME", blank)
    monkeypatch.setattr("tui.cli.commands.sessions.add_arguments", _no_arguments)
    monkeypatch.setattr("tui.cli.commands.sessions.run", lambda _: 0)

    def unknown(path: str) -> str:
        seen.append(os.environ.get("HOME"))
        return path

    monkeypatch.setattr("os.path.expanduser", unknown)
    assert main(["sessions"]) == 1
    assert seen[-1] is None


def _no_arguments(_: argparse.ArgumentParser) -> None:
    """A command without any."""


READING = [name for name in ON_A_LOG if name != "watch"]


@pytest.fixture
def closed_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of our own that cannot be made, for root too."""
    (home / "file").write_text("not a folder")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home / "file" / "below"))
    return home


@pytest.mark.parametrize("command", READING)
def test_a_closed_home_stops_no_reading(command: str, closed_home: Path, log: Path, run: Run) -> None:
    code, out, said = run(*filled(ON_A_LOG[command], log))
    assert (code, bool(out), "Traceback" in said) == (0, True, False), said


def test_words_are_found_where_no_index_can_be_kept(closed_home: Path, log: Path, run: Run) -> None:
    code, out, said = run("search", "parser", "--in", str(log))
    assert code == 0 and "nooscope replay" in out
    assert said.count("this search is not indexed") == 1 and "Errno" not in said


def test_words_are_found_on_a_full_disk(home: Path, log: Path) -> None:
    (home / "cache").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_ROOM, "search", "parser", "--in", str(log)],
        env={**os.environ, "XDG_CACHE_HOME": str(home / "cache")},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0 and "nooscope replay" in done.stdout, done.stderr
    assert "this search is not indexed" in done.stderr
    assert not any((home / "cache").rglob("words.db*"))


_WITHOUT_ROOM = """
import sqlite3, sys
from tui.cli import main
bare = sqlite3.connect
def full(path, *more, **named):
    if "cache" in str(path):
        open(path, "a").close()
        raise sqlite3.OperationalError("database or disk is full")
    return bare(path, *more, **named)
sqlite3.connect = full
sys.exit(main())
"""


def test_a_closed_home_is_told_where_something_is_to_be_kept(closed_home: Path, log: Path, run: Run) -> None:
    code, _, said = run("bookmarks", str(log), "--add", "here")
    assert (code, "cannot be written" in said) == (1, True)
    code, out, said = run("watch", str(log), "--headless", "--idle", "0")
    assert code == 0
    assert "what was learned from this session is lost" in said
    code, out, _ = run("doctor")
    assert (code, out.count("is not a folder")) == (1, 3)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_read_only_home(home: Path, log: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shut = home / "shut"
    shut.mkdir(mode=0o500)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(shut))
    code, out, _ = run("frame", str(log), "--set", "timeline.cache.least=0")
    assert code == 0 and out
    code, _, said = run("watch", str(log), "--headless", "--idle", "0")
    assert (code, "is lost" in said) == (0, True)
    code, _, said = run("bookmarks", str(log), "--add", "here")
    assert (code, "out of reach" in said) == (1, True)
    code, out, _ = run("doctor")
    assert (code, out.count("cannot be written")) == (1, 3)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes names but no content."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("core.store.atomic.os.fsync", full)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_keeps_nothing_and_stops_nothing(home: Path, log: Path, run: Run) -> None:
    code, out, _ = run("frame", str(log), "--set", "timeline.cache.least=0")
    assert code == 0 and out
    code, _, said = run("watch", str(log), "--headless", "--idle", "0")
    assert code == 0
    assert "No space left" in said and "is lost" in said
    code, _, said = run("bookmarks", str(log), "--add", "here")
    assert code == 1
    assert "No space left" in said
    left = [path for path in home.rglob("*") if path.is_file() and path.suffix in (".new", ".recording")]
    assert left == []


def test_a_limit_on_what_may_be_written(home: Path, log: Path) -> None:
    resource = pytest.importorskip("resource")
    done = subprocess.run(
        [*NOOSCOPE, "export", str(log), "-o", str(home / "out.jsonl")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert done.returncode == 1
    assert "cannot write" in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in home.glob("out*")] == []


def test_two_programs_share_a_cache_and_a_shelf(home: Path, log: Path, run: Run) -> None:
    showing = ["frame", str(log), "--json", "--set", "timeline.cache.least=0"]
    marking = [["bookmarks", str(log), "--add", f"mark {number}"] for number in range(2)]
    started = [
        subprocess.Popen([*NOOSCOPE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for words in (showing, showing, *marking)
    ]
    ended = [(*program.communicate(timeout=60), program.returncode) for program in started]
    assert [(said, code) for _, said, code in ended] == [(b"", 0)] * 4
    assert ended[0][0] == ended[1][0] != b""
    _, listed, _ = run("bookmarks", str(log))
    assert [name in listed for name in ("mark 0", "mark 1")] == [True] * 2
    assert len(list((home / "xdg_cache_home").rglob("*.recording"))) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [(("watch", "{}", "--headless", "--idle", "0"), 0), (("analyze", "{}"), 0), (("doctor",), 1)],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_folders_of_our_own_that_are_closed_to_us(words: tuple[str, ...], code: int, home: Path, log: Path) -> None:
    """As they are after nooscope once ran as another user; the rights of root are given up for this."""
    without_rights: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("nothing is closed to root")
        without_rights = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    folders = [home / f"xdg_{name}_home" / "nooscope" for name in ("config", "data", "cache")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0)
    try:
        done = subprocess.run(
            (*without_rights, *NOOSCOPE, *(word.format(log) for word in words)),
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "ermission denied" in done.stderr + done.stdout
