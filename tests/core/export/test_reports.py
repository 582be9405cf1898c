"""The report and the film of text."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from core.agents.words import telling_line
from core.events import Event, ToolUse
from core.export.exporters import HEIGHT, PAUSE, WIDTH, cast, columns, fitted, markdown_line, report
from core.report.story import Trouble, troubles
from tests.core.export.films import SECRET, hostile, made
from tests.core.logs import log_lines as logs


def use(at: float, outcome: str, **fields: object) -> Event:
    told = {"tool": "Bash", "action": "shell_exec", "shape": 1, "outcome": outcome} | fields
    return ToolUse(at=at, **told)  # type: ignore[arg-type]


def edit(at: float, path: str, outcome: str = "success") -> Event:
    return use(at, outcome, tool="Edit", action="file_edit", targets=(path,), shape=9)


def test_a_trouble_lasts_until_the_same_thing_works() -> None:
    events = [
        edit(0, "before"),
        use(1, "failure"),
        edit(2, "a"),
        use(3, "failure"),
        edit(4, "a"),
        edit(5, "b"),
        use(6, "success", shape=2),
        use(7, "success"),
        use(8, "failure", shape=3),
        use(9, "pending", shape=3),
    ]
    assert troubles(events) == [Trouble(1, 3, 2, 7, ("a", "b"), 1), Trouble(8, 8, 1, None, (), 0)]


def test_another_agents_success_solves_nothing() -> None:
    assert troubles([use(1, "failure"), use(2, "success", agent="sub")])[0].solved is None


@pytest.mark.parametrize(
    ("purpose", "program", "solved"),
    [
        ("test", "pytest", 1),
        ("build", "make", 1),
        ("commit", "git", 1),
        ("destructive", "rm", None),
        ("wait", "TaskOutput", None),
        ("", "git", None),
    ],
)
def test_a_check_or_commit_works_again_when_its_program_passes_with_other_words(
    purpose: str, program: str, solved: int | None
) -> None:
    told = {"purpose": purpose, "program": program}
    assert troubles([use(1, "failure", **told), use(2, "success", shape=5, **told)])[0].solved == solved


def test_the_error_is_the_line_that_says_it() -> None:
    assert telling_line("> assert 1 == 2\nE AssertionError\nbye") == "AssertionError"
    assert telling_line("one\ncannot open\ntwo") == "cannot open"
    assert telling_line("one\ntwo\n") == "two"
    assert telling_line("") == ""


def test_no_text_of_a_log_is_markup() -> None:
    assert markdown_line("a|b *c* [d](e) <f> `g` https://x.y www.z.y") == (
        r"a\|b \*c\* \[d\](e) \<f\> \`g\` https\://x.y www\.z.y"
    )


def test_a_report_says_what_was_asked_done_failed_and_solved(tmp_path: Path) -> None:
    text = report(made(hostile(tmp_path / "s-1.jsonl")))
    assert "please" in text and "1. `0:00`" in text
    assert "Makefile | 1 | 0 |" in text
    assert "failed once" in text and "the error: Error: no rule" in text
    assert "worked at 0:06 after edits of /p/Makefile" in text
    assert SECRET not in text and "<script>" not in text


def test_a_strict_report_has_no_words(tmp_path: Path) -> None:
    text = report(made(hostile(tmp_path / "s-1.jsonl"), "strict"))
    for word in ("please", "make", "Makefile", "no rule", "project"):
        assert word not in text, word
    assert "file-1" in text


def test_what_never_worked_again_is_said(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_bytes(logs.prompt(0) + logs.call(1, "t") + logs.result(2, "t", "fatal: no", error=True))
    text = report(made(log))
    assert "**never succeeded afterwards**" in text
    assert "ended: **done**" not in text


def test_a_cast_is_one_header_and_frames_with_bounded_pauses(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_bytes(logs.session(3) + logs.session(3, 5000) + logs.prompt(90_000))
    film = made(log)
    header, *frames = [json.loads(line) for line in cast(film)]
    assert (header["version"], header["width"], header["height"]) == (2, WIDTH, HEIGHT)
    assert len(frames) == len(film.moments)
    times = [frame[0] for frame in frames]
    assert times == sorted(times)
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert max(waits) == PAUSE or abs(max(waits) - PAUSE) < 0.01
    assert {frame[1] for frame in frames} == {"o"}
    assert all(frame[2].count("\r\n") == HEIGHT - 1 for frame in frames)


def test_a_cast_obeys_no_escape_of_the_log_and_tells_no_secret(tmp_path: Path) -> None:
    text = b"".join(cast(made(hostile(tmp_path / "s-1.jsonl")))).decode()
    assert SECRET not in text
    assert "\\u001b[31m" not in text
    log = tmp_path / "s-2.jsonl"
    log.write_bytes(logs.prompt(0, "\x1b[31mred\x07"))
    text = b"".join(cast(made(log))).decode()
    assert "red" in text and "[31m" not in text and "\\u0007" not in text


def test_lines_are_cut_by_columns() -> None:
    assert fitted("abcd", 4) == "abcd"
    assert fitted("abcde", 4) == "abc…"
    assert columns("漢字e\u0301") == 5
    assert fitted("漢字漢", 5) == "漢字…"


def test_what_was_said_is_found_by_its_place_too(tmp_path: Path) -> None:
    log = tmp_path / "chat.json"
    value = json.loads(logs.gemini(1))
    value["messages"][1]["content"] = "I will look at it."
    log.write_text(json.dumps(value))
    assert "I will look at it." in [moment.spoken.text for moment in made(log).moments if moment.kind == "turn"]
