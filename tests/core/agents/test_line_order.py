"""The order of a log's lines loses nothing: results before their calls, children before their parents."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.agents.claude_code.reader import ClaudeCode
from core.agents.registry import AGENTS, make_kit
from core.events import Event, Outcome, ToolUse
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.format import Format, Sample, recognise
from core.logs.session import read_session as read_session
from tests.core.agents.reading_more import Log, encoded, new_kit, read
from tests.core.agents.real_logs import FILES
from tests.core.agents.samples import answers, asks, claude, says
from tests.core.agents.samples_more import LOGS

_STRETCH = 20
_LONGEST = 1_000_000
"""Bytes of a real log beyond which it is left to other tests."""
_NAMES = frozenset(("tool_use_id", "call_id", "toolCallId", "tool_call_id", "parentUuid", "parentId", "id", "uuid"))
_LINES = {known.reader for agent in AGENTS for known in agent.formats if known.style == "lines"}
_UNLINKED = ("nooscope", "chat")
"""Formats of whole deeds, or without ids, in which a moved line is another story."""
_CLAUDE = [
    says(0, "go on"),
    asks(1, "t1", "Bash", {"command": "ls"}),
    answers(2, "t1", "done"),
    asks(3, "t2", "Read", {"file_path": "/a"}),
    answers(4, "t2", "no such file", is_error=True),
    claude("system", 5, subtype="turn_duration"),
]


def _ids(value: Any) -> set[str]:
    """Every id in a line."""
    found: set[str] = set()
    if isinstance(value, dict):
        for name, item in value.items():
            if name in _NAMES and isinstance(item, str):
                found.add(item)
            found |= _ids(item)
    elif isinstance(value, list):
        for item in value:
            found |= _ids(item)
    return found


def _moves(lines: list[Any]) -> list[tuple[int, int]]:
    """Lines that name something first named a little earlier, and where that was."""
    first: dict[str, int] = {}
    found = []
    for place, line in enumerate(lines):
        told = _ids(line)
        before = [first[name] for name in told if name in first and 0 < place - first[name] <= _STRETCH]
        if before and min(before) > 1:
            found.append((place, min(before)))
        for name in told:
            first.setdefault(name, place)
    return found


def _counts(known: type, lines: list[Any]) -> tuple[Counter[str], Counter[Outcome], int]:
    kit = new_kit()
    events = read(known, lines, kit)
    kinds = Counter(type(event).__name__ for event in events)
    outcomes = Counter(event.outcome for event in events if isinstance(event, ToolUse))
    return kinds, outcomes, kit.diagnostics.total


def _check(known: type, lines: list[Any], most: int) -> int:
    wanted = _counts(known, lines)
    moves = _moves(lines)
    step = max(1, len(moves) // most)
    for place, before in moves[::step]:
        moved = [*lines[:before], lines[place], *lines[before:place], *lines[place + 1 :]]
        assert _counts(known, moved) == wanted, f"line {place + 1} moved before line {before + 1}"
    return len(moves[::step])


_GROWING = [
    log for log in LOGS if log.reader in _LINES and log.around is None and log.name not in ("nooscope", "chat run")
]
"""Logs of lines that hold one session."""
_SAMPLES = [
    pytest.param(log.reader, log.records(log.entries), id=log.name)
    for log in LOGS
    if log.reader in _LINES and log.around is None and not log.name.startswith(_UNLINKED)
] + [pytest.param(ClaudeCode, _CLAUDE, id="claude-code")]


@pytest.mark.parametrize(("known", "lines"), _SAMPLES)
def test_a_line_moved_before_the_one_it_answers_loses_nothing(known: type, lines: list[Any]) -> None:
    assert _check(known, lines, 50) > 0


def _format(path: Path) -> Format | None:
    with path.open("rb") as stream:
        return recognise(Sample(stream.read(65_536), path), AGENTS)


_REAL = [
    pytest.param(path, id=f"{path.parent.name}/{path.name}")
    for path in FILES
    if path.suffix == ".jsonl" and path.stat().st_size < _LONGEST and "openhands" not in path.parts
]


@pytest.mark.parametrize("path", _REAL)
def test_the_same_of_real_logs(path: Path) -> None:
    known = _format(path)
    assert known is not None
    lines = [json.loads(line) for line in path.read_bytes().splitlines() if _is_object(line)]
    _check(known.reader, lines, 12)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@pytest.mark.parametrize("log", _GROWING, ids=lambda log: log.name)
@pytest.mark.parametrize("chunk", [1, 7, 200, 100_000])
def test_a_log_cut_into_chunks_tells_the_same(log: Log, chunk: int, tmp_path: Path) -> None:
    """However few bytes are written at a time."""
    data = b"".join(encoded(record) + b"\n" for record in log.records(log.entries))
    whole, path = tmp_path / "whole" / "s.jsonl", tmp_path / "grows" / "s.jsonl"
    for file in (whole, path):
        file.parent.mkdir()
    whole.write_bytes(data)
    kit = make_kit()
    [session] = sessions([whole], kit)
    follower = Follower(path, make_kit())
    found: list[Event] = []
    with path.open("ab") as stream:
        for place in range(0, len(data), chunk):
            stream.write(data[place : place + chunk])
            stream.flush()
            if chunk >= 7 or data[place : place + 1] == b"\n":
                found += follower.poll()
    found += [*follower.poll(), *follower.finish()]
    assert [_placeless(event) for event in found] == [_placeless(event) for event in read_session(session, kit)]


def _placeless(event: Event) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(event)
    return {name: value for name, value in told.items() if name not in ("where", "called", "said")}
