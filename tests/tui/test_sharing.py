"""`nooscope export` to a person: page, film of text, report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.cli import main


@pytest.mark.parametrize(
    ("form", "begins"), [("html", b"<!doctype html>"), ("cast", b'{"version":2'), ("markdown", b"# ")]
)
def test_to_a_file_and_to_standard_output_alike(
    home: Path, log: Path, form: str, begins: bytes, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    out = home / "out"
    assert main(["export", str(log), "--format", form, "--out", str(out)]) == 0
    content = out.read_bytes()
    assert content.startswith(begins)
    said = capfdbinary.readouterr()
    assert said.out == b"" and b"events of 1 session" in said.err
    assert main(["export", str(log), "--format", form]) == 0
    assert capfdbinary.readouterr().out == content


@pytest.mark.parametrize(
    "words",
    [
        ["--format", "html", "--transcript", "--redact", "strict"],
        ["--format", "markdown", "--transcript"],
        ["--format", "events", "--transcript"],
        ["--redact", "strict"],
    ],
)
def test_what_cannot_be_meant_is_said(
    home: Path, log: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(log), *words]) == 2
    assert "--transcript" in capsys.readouterr().err


def test_the_log_itself_is_never_written_over(home: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = log.read_bytes()
    assert main(["export", str(log), "--format", "html", "--out", str(log)]) == 2
    assert log.read_bytes() == before
    assert "is the log itself" in capsys.readouterr().err


def test_a_log_without_events_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "empty.jsonl").write_bytes(b"")
    assert main(["export", "empty.jsonl", "--format", "html"]) == 1
    assert capsys.readouterr().err.startswith("nooscope: ")


@pytest.mark.parametrize("form", ["html", "cast", "markdown", "otlp"])
@pytest.mark.parametrize("content", [None, bytes(range(256)) * 40, b"not a log\n", b'{"half": '])
def test_what_is_no_log_is_said_in_one_line(
    home: Path, form: str, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "odd"
    if content is not None:
        path.write_bytes(content)
    assert main(["export", str(path), "--format", form, "-o", "out"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and said.err.startswith("nooscope: ")
    assert not (home / "out").exists()
