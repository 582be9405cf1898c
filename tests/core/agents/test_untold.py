"""What a kind of log never tells is declared, carried by its sessions, and said by reports as unknown."""

from __future__ import annotations

import pytest

from core.agents.registry import FORMATS, make_kit
from core.engine import Engine
from core.events import MATTERS, SessionStart, ToolUse, Turn
from core.logs.format import Format
from core.report.event_words import about
from core.report.page import summary_text
from core.report.summary import Gatherer
from core.settings import Settings
from tests.core.agents.reading_more import Log, read
from tests.core.agents.samples_more import LOGS


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: f"{known.name} {known.style}")
def test_what_is_untold_is_named_in_one_order(known: Format) -> None:
    untold = known.reader.untold
    assert list(untold) == [matter for matter in MATTERS if matter in untold]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_a_session_says_it_and_keeps_to_it(log: Log) -> None:
    events = read(log.reader, log.records(log.entries))
    starts = [event for event in events if isinstance(event, SessionStart)]
    untold = log.reader.untold
    if log.name != "nooscope":
        assert {start.untold for start in starts} == {untold}
    turns = [event for event in events if isinstance(event, Turn)]
    if "tokens" in untold:
        assert not any(turn.input_tokens + turn.output_tokens for turn in turns)
    if "model" in untold:
        assert {turn.model for turn in turns} <= {""}
    if "times" in untold:
        assert all(start.synthetic_time for start in starts)
    if "cost" in untold and ("tokens" in untold or "model" in untold):
        assert {turn.cost for turn in turns} <= {None}
    if "outcomes" not in untold:
        assert {event.outcome for event in events if isinstance(event, ToolUse)} != {"pending"}


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
    assert "tokens unknown: the log does not tell them" in said
    assert "cost unknown" in said
    told = make_kit().models.turn(2.0, model="claude-sonnet-4-5", input_tokens=5)
    assert "tokens unknown" not in _report(start, told)
