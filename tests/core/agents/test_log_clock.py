"""Logs without times, and times that cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.claude_code.reader import ClaudeCode
from core.agents.codex.reader import Codex
from core.agents.gemini import QwenReader
from core.agents.openhands import OpenHandsReader
from core.agents.reader import FAR, FAR_OFF, NO_TIME, STEP, AgentReader, LogClock
from core.agents.registry import make_kit
from core.events import Event, Prompt, SessionStart, ToolUse
from core.logs.finder import sessions
from core.logs.lines import seconds
from core.logs.session import read_session
from tests.core.agents.reading_more import new_kit, read, uses
from tests.core.agents.samples import answers, asks, codex_call, codex_meta, codex_output, says
from tests.core.agents.samples_rest import openhands_action, openhands_result
from tests.core.agents.test_newer_agents import QWEN
from tui.cli import main

NOW = 1_772_000_000.0


@pytest.mark.parametrize(
    ("told", "taken", "fault"),
    [
        (NOW + FAR - 1.0, NOW + FAR - 1.0, ""),
        (NOW + FAR, NOW, FAR_OFF),
        (NOW - FAR + 1.0, NOW - FAR + 1.0, ""),
        (NOW - FAR, NOW, FAR_OFF),
        (0.0, NOW, FAR_OFF),
        (None, NOW, NO_TIME),
    ],
)
def test_a_time_years_off_is_unknown(told: float | None, taken: float, fault: str) -> None:
    assert LogClock().settle(told, NOW) == (taken, fault)


def test_two_that_agree_are_believed_and_two_that_are_apart_are_not() -> None:
    clock, later = LogClock(), NOW + 2 * FAR
    assert clock.settle(later, NOW) == (NOW, FAR_OFF)
    assert clock.settle(later + 5.0, NOW) == (later + 5.0, "")
    clock = LogClock()
    assert clock.settle(later, NOW) == (NOW, FAR_OFF)
    assert clock.settle(later, NOW + 1.0) == (NOW + 1.0, FAR_OFF)


@pytest.mark.parametrize("first", [None, 0.0, 0.5, 631_151_999.0, 253_402_300_799.0])
def test_a_log_that_does_not_begin_with_a_time_holds_none(first: float | None) -> None:
    clock = LogClock()
    begun, fault = clock.settle(first, 0.0)
    assert (clock.made_up, fault) == (True, "")
    assert clock.settle(None, begun) == (begun + STEP, "")
    told, _ = clock.settle(NOW, begun + STEP)
    assert clock.settle(NOW + 7.0, told) == (told + 7.0, "")


@pytest.mark.parametrize("first", [631_152_000.0, NOW, 32_503_680_000.0])
def test_any_other_first_time_is_believed(first: float) -> None:
    clock = LogClock()
    assert clock.settle(first, 0.0) == (first, "")
    assert not clock.made_up


CLAUDE = [
    says(0, "mend"),
    asks(1, "t1", "Bash", {"command": "make"}),
    answers(2, "t1", "no rule", error=True),
    asks(3, "t2", "Bash", {"command": "make"}),
    answers(4, "t2", "no rule", error=True),
    says(5, "go on"),
]


CODEX = [
    codex_meta(0),
    codex_call(1, "c1", "shell", {"command": ["ls"]}),
    codex_output(2, "c1", "a"),
    codex_call(3, "c2", "shell", {"command": ["ls"]}),
    codex_output(4, "c2", "a"),
]


def _without_times(records: list[Any]) -> list[Any]:
    return [{key: item for key, item in record.items() if key != "timestamp"} for record in records]


@pytest.mark.parametrize(
    ("reader", "records"), [(ClaudeCode, CLAUDE), (Codex, CODEX), (QwenReader, QWEN)], ids=lambda one: str(one)[:30]
)
def test_a_log_without_times_says_so_and_skips_nothing(reader: type[AgentReader], records: list[Any]) -> None:
    kit = new_kit()
    plain, bare = read(reader, records), read(reader, _without_times(records), kit)
    start = next(event for event in bare if isinstance(event, SessionStart))
    assert start.synthetic_time
    assert start.untold[0] == "times"
    assert NO_TIME not in kit.diagnostics.counts
    assert [type(event) for event in bare] == [type(event) for event in plain]
    times = [event.at for event in bare if isinstance(event, ToolUse | Prompt)]
    assert times == sorted(times)
    assert times[0] < times[-1] < 100 * STEP


def _one_odd(place: int, odd: str | None) -> list[Any]:
    lines = [dict(line) for line in CLAUDE]
    lines[place]["timestamp"] = odd
    return lines


@pytest.mark.parametrize("odd", ["1970-01-01T00:00:00.000Z", "9999-12-31T23:59:59.000Z"])
@pytest.mark.parametrize("place", range(1, len(CLAUDE)))
def test_one_odd_time_among_good_ones_is_the_time_before_it(place: int, odd: str) -> None:
    kit = new_kit()
    events = read(ClaudeCode, _one_odd(place, odd), kit)
    assert events == read(ClaudeCode, _one_odd(place, CLAUDE[place - 1]["timestamp"]))
    assert kit.diagnostics.counts == {FAR_OFF: 1}
    assert kit.diagnostics.first[0].line == place + 1


@pytest.mark.parametrize("odd", ["1970-01-01T00:00:00.000Z", "9999-12-31T23:59:59.000Z", None])
def test_an_odd_time_at_the_beginning_costs_only_the_date(odd: str | None) -> None:
    events: list[Event] = read(ClaudeCode, _one_odd(0, odd))
    assert isinstance(events[0], SessionStart)
    assert events[0].synthetic_time
    lasted = seconds(CLAUDE[-1]["timestamp"]) or 0.0
    lasted -= seconds(CLAUDE[1]["timestamp"]) or 0.0
    assert events[-1].at - events[0].at <= lasted + STEP
    assert [use.duration for use in uses(events)] == [1.0, 1.0]


def test_an_odd_time_in_a_document() -> None:
    kit = new_kit()
    steps = [
        openhands_action(1, "run", {"command": "make"}),
        openhands_result(2, 1, "run", "x") | {"timestamp": "1970-01-01T00:00:00"},
        openhands_action(3, "run", {"command": "make"}),
    ]
    events = read(OpenHandsReader, [steps], kit)
    assert [event.at for event in uses(events)] == [events[0].at, events[0].at + 2.0]
    assert kit.diagnostics.counts == {FAR_OFF: 1}


def test_a_report_tells_a_log_without_times_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "s.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in _without_times(CLAUDE)))
    assert main(["analyze", str(log), "--plain"]) == 0
    said = capsys.readouterr().out
    assert "the log has no times" in said
    assert "no time\n" not in said
    log.write_text("".join(json.dumps(line) + "\n" for line in _one_odd(2, None)))
    assert main(["analyze", str(log), "--plain"]) == 0
    said = capsys.readouterr().out
    assert "faults    1 x no time" in said
    assert "skipped" not in said


def test_no_real_log_is_touched_by_it(shared_data: Path) -> None:
    kit = make_kit()
    for session in sessions([shared_data / "real_sessions"], kit):
        for _ in read_session(session, kit):
            pass
    assert FAR_OFF not in kit.diagnostics.counts
