"""What a kind of log never tells is declared, carried by its sessions, and said by reports as unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.agents.aider import AiderReader
from core.agents.antigravity import AntigravityReader
from core.agents.claude_code.reader import ClaudeCode
from core.agents.cline import ClineReader
from core.agents.codex.reader import Codex
from core.agents.cursor import CursorReader
from core.agents.gemini import QwenReader
from core.agents.models import Models
from core.agents.open_events import OpenEventsReader
from core.agents.registry import AGENTS, make_kit
from core.engine.society.engine import Engine
from core.events import MATTERS, Event, SessionStart, ToolUse, Turn
from core.logs.finder import sessions
from core.logs.format import Format, Reader
from core.logs.session import read_session
from core.report.analysis import Gatherer
from core.report.event_words import about
from core.report.page import summary_text
from core.settings import Settings
from tests.core.agents import samples_wider
from tests.core.agents.reading_more import Log, read
from tests.core.agents.samples_more import LOGS
from tests.core.agents.test_aider import AIDER
from tests.core.agents.test_cline import OLD, PANEL, SDK
from tests.core.agents.test_newer_agents import ANTIGRAVITY, CURSOR, QWEN

_FORMATS = [known for agent in AGENTS for known in agent.formats]


@pytest.mark.parametrize("known", _FORMATS, ids=lambda known: f"{known.name} {known.style}")
def test_what_is_untold_is_named_in_one_order(known: Format) -> None:
    untold = known.reader.untold
    assert list(untold) == [matter for matter in MATTERS if matter in untold]


_NEWER: dict[str, tuple[type[Reader], list[Any]]] = {
    "qwen": (QwenReader, QWEN),
    "antigravity": (AntigravityReader, ANTIGRAVITY),
    "cursor": (CursorReader, CURSOR),
    "cline": (ClineReader, [OLD, PANEL]),
    "cline sdk": (ClineReader, [SDK]),
    "aider": (AiderReader, list(AIDER.splitlines())),
    **{name: (reader, lines) for name, (reader, lines, _) in samples_wider.LOGS.items()},
    **samples_wider.DOCUMENTS,
}


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_a_session_says_it_and_keeps_to_it(log: Log) -> None:
    _keeps_to_it(log.reader, read(log.reader, log.records(log.entries)))


@pytest.mark.parametrize("name", _NEWER)
def test_a_session_of_the_newer_agents_does_too(name: str) -> None:
    reader, records = _NEWER[name]
    _keeps_to_it(reader, read(reader, records))


def test_every_reader_is_asked() -> None:
    """A reader that no sample shows could declare anything."""
    asked = {log.reader for log in LOGS} | {reader for reader, _ in _NEWER.values()} | {ClaudeCode, Codex}
    assert {known.reader for known in _FORMATS} <= asked


def _keeps_to_it(reader: type[Reader], events: list[Event]) -> None:
    starts = [event for event in events if isinstance(event, SessionStart)]
    if reader is not OpenEventsReader:
        assert all(set(start.untold) >= set(reader.untold) for start in starts)
    untold = starts[0].untold
    turns = [event for event in events if isinstance(event, Turn)]
    if "tokens" in untold:
        assert not any(turn.input_tokens + turn.output_tokens for turn in turns)
    if "model" in untold:
        assert {turn.model for turn in turns} <= {""}
    assert all(start.synthetic_time == ("times" in start.untold) for start in starts)
    if "cost" in untold and ("tokens" in untold or "model" in untold):
        assert {turn.cost for turn in turns} <= {None}
    uses = [event for event in events if isinstance(event, ToolUse)]
    assert uses and all(use.outcome == "pending" for use in uses) == ("outcomes" in untold)


class _NoPrices(Models):
    """With which only a log can tell a cost."""

    def cost(self, *_tokens: Any, **_more: Any) -> float | None:
        return None


def test_no_real_log_tells_what_is_said_to_be_untold(shared_data: Path) -> None:
    lies = []
    for path in sorted((shared_data / "real_sessions").iterdir()):
        kit = make_kit()
        kit.models = _NoPrices.load()
        for session in sessions([path], kit):
            events = list(read_session(session, kit))
            turns = [event for event in events if isinstance(event, Turn)]
            starts = [event for event in events if isinstance(event, SessionStart)]
            told = {
                "times": any(not start.synthetic_time for start in starts),
                "tokens": any(turn.input_tokens + turn.output_tokens for turn in turns),
                "model": any(start.model for start in starts) or any(turn.model for turn in turns),
                "cost": any(turn.cost for turn in turns),
            }
            lies += [(session.id, matter) for matter in starts[0].untold if told.get(matter)]
    assert lies == []


def _report(*events: SessionStart | Turn) -> str:
    gatherer, engine = Gatherer(), Engine(Settings(), seed=1)
    for event in events:
        gatherer.add(event, engine.step(event))
    return summary_text(gatherer.summary)


def test_untold_tokens_are_unknown_in_a_report() -> None:
    start = SessionStart(at=1.0, session="s", tool="droid", untold=("tokens", "model", "cost"))
    turn = make_kit().models.turn(2.0, model="")
    assert about(turn)[0] == "tokens unknown"
    said = _report(start, turn)
    assert "tokens unknown: not in the log" in said
    assert "cost unknown" in said
    told = make_kit().models.turn(2.0, model="claude-sonnet-4-5", input_tokens=5)
    assert "tokens unknown" not in _report(start, told)
