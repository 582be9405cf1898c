"""Every command that writes to a file the person names keeps what is there: links, pipes, permissions."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from tui.cli import main

WORDS = {
    "labels": ("labels", "--out", "OUT"),
    "bookmarks": ("bookmarks", "--export", "OUT"),
    "metrics": ("analyze", "LOG", "--metrics", "OUT"),
    **{
        form: ("export", "LOG", "--format", form, "-o", "OUT")
        for form in ("events", "html", "markdown", "cast", "otlp")
    },
}
commands = pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)


def run(words: tuple[str, ...], log: Path, out: Path) -> int:
    places = {"LOG": str(log), "OUT": str(out)}
    return main([places.get(word, word) for word in words])


@commands
def test_a_new_file_is_as_the_umask_says(words: tuple[str, ...], log: Path, home: Path) -> None:
    before = os.umask(0o022)
    try:
        assert run(words, log, home / "out") == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((home / "out").stat().st_mode) == 0o644


@commands
def test_a_link_and_permissions_are_kept(words: tuple[str, ...], log: Path, home: Path) -> None:
    real, link = home / "real", home / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert run(words, log, link) == 0
    assert link.is_symlink() and real.read_bytes() != b"old"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@commands
def test_a_pipe_is_written_to(words: tuple[str, ...], log: Path, home: Path) -> None:
    pipe, out = home / "pipe", home / "out"
    read: list[bytes] = []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert run(words, log, pipe) == run(words, log, out) == 0
    assert pipe.is_fifo()
    reader.join(10)
    assert read == [out.read_bytes()]


@commands
def test_a_folder_is_an_error_that_says_so(
    words: tuple[str, ...], log: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "out").mkdir()
    assert run(words, log, home / "out") in (1, 2)
    assert "Is a directory" in capsys.readouterr().err
    assert list((home / "out").iterdir()) == []
