"""No line, however broken, stops the readers of the newer agents or changes what two of them tell."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.aider.reader import AiderReader
from core.agents.antigravity.reader import AntigravityReader
from core.agents.cline.reader import ClineReader
from core.agents.cursor.reader import CursorReader
from core.agents.openhands.reader import OpenHandsFolderReader
from core.agents.qwen.reader import QwenReader
from core.events import EVENT_KINDS, OUTCOMES, Event, ToolUse
from core.logs.reader import Reader
from tests.core.agents.samples import encoded, feed, new_kit
from tests.core.agents.test_cline import OLD, PANEL, ROO, SDK
from tests.core.agents.test_newer_agents import AIDER, ANTIGRAVITY, CURSOR, OPENHANDS, QWEN

_LOGS: dict[str, tuple[type[Reader], list[Any]]] = {
    "qwen": (QwenReader, QWEN),
    "antigravity": (AntigravityReader, ANTIGRAVITY),
    "cursor": (CursorReader, CURSOR),
    "openhands": (OpenHandsFolderReader, OPENHANDS),
    "cline": (ClineReader, [OLD, PANEL]),
    "roo": (ClineReader, [ROO]),
    "panel": (ClineReader, [PANEL]),
    "sdk": (ClineReader, [SDK]),
    "aider": (AiderReader, list(AIDER.splitlines())),
}
_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.lists(st.one_of(st.none(), st.integers(-9, 9), st.just({}), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.text(max_size=4), st.one_of(st.none(), st.integers(), st.just([])), max_size=2),
)


def _places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [above] if above else []
    steps: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, item in steps:
        found += _places(item, (*above, step))
    return found


def _sound(events: list[Event]) -> None:
    for event in events:
        assert isinstance(event, EVENT_KINDS)
        assert isinstance(event.at, float)
        assert event.at >= 0.0
        if isinstance(event, ToolUse):
            assert event.outcome in OUTCOMES
            assert event.duration is None or event.duration >= 0.0


@pytest.mark.parametrize("name", _LOGS)
@given(data=st.data())
@settings(max_examples=80)
def test_any_field_may_be_anything(name: str, data: st.DataObject) -> None:
    kind, lines = _LOGS[name]
    broken = copy.deepcopy(lines)
    at = data.draw(st.integers(0, len(broken) - 1))
    places = _places(broken[at])
    if not places:
        broken[at] = data.draw(st.binary(max_size=40))
    else:
        place = data.draw(st.sampled_from(places))
        inner = broken[at]
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = data.draw(_JUNK)
    events = feed(kind(new_kit(), session="x"), broken)
    _sound(events)
    assert events == feed(kind(new_kit(), session="x"), broken)


@pytest.mark.parametrize("name", _LOGS)
@given(data=st.data())
@settings(max_examples=40)
def test_records_may_be_cut_repeated_or_out_of_order(name: str, data: st.DataObject) -> None:
    kind, lines = _LOGS[name]
    written = [line if isinstance(line, bytes) else encoded(line) for line in lines]
    at = data.draw(st.integers(0, len(written) - 1))
    match data.draw(st.sampled_from("crsb")):
        case "c":
            written[at] = written[at][: data.draw(st.integers(0, len(written[at])))]
        case "r":
            written.insert(at, written[data.draw(st.integers(0, len(written) - 1))])
        case "s":
            written.reverse()
        case "b":
            written.insert(at, data.draw(st.binary(max_size=40)))
    _sound(feed(kind(new_kit(), session="x"), written))
