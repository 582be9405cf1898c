"""No line, however broken, stops the readers of the newer agents or changes what two of them tell."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.aider import AiderReader
from core.agents.antigravity import AntigravityReader
from core.agents.cline import ClineReader
from core.agents.cursor import CursorReader
from core.agents.gemini import QwenReader
from core.agents.openhands import OpenHandsFolderReader
from core.logs.format import Reader
from tests.core.agents.broken_values import JUNK, changed, check_events, places_in
from tests.core.agents.samples import encoded, feed, new_kit
from tests.core.agents.test_aider import AIDER
from tests.core.agents.test_cline import OLD, PANEL, ROO, SDK
from tests.core.agents.test_newer_agents import ANTIGRAVITY, CURSOR, OPENHANDS, QWEN

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


@pytest.mark.parametrize("name", _LOGS)
@given(data=st.data())
@settings(max_examples=80)
def test_any_field_may_be_anything(name: str, data: st.DataObject) -> None:
    kind, lines = _LOGS[name]
    broken = list(lines)
    at = data.draw(st.integers(0, len(broken) - 1))
    places = places_in(broken[at])
    if not places:
        broken[at] = data.draw(st.binary(max_size=40))
    else:
        place = data.draw(st.sampled_from(places))
        broken[at] = changed(broken[at], place, data.draw(JUNK), remove=False)
    events = feed(kind(new_kit(), session="x"), broken)
    check_events(events)
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
    check_events(feed(kind(new_kit(), session="x"), written))
