"""Values that no log should hold, put anywhere into one that is whole."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from core.events import EVENT_KINDS, OUTCOMES, Event, ToolUse, Turn

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["1" * 30, "\x00", "9999-99-99T99:99:99.999Z", "tool_use", "assistant", "kid"]),
    st.recursive(
        st.one_of(st.none(), st.integers(-9, 9), st.text(max_size=3)),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
        max_leaves=5,
    ),
)


def places_in(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside a value."""
    found = [above] if above else []
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        found += places_in(item, (*above, step))
    return found


def changed(line: Any, place: tuple[Any, ...], junk: Any, remove: bool) -> Any:
    """A copy with junk at one place, or nothing there."""
    line = copy.deepcopy(line)
    inner = line
    for step in place[:-1]:
        inner = inner[step]
    if remove:
        del inner[place[-1]]
    else:
        inner[place[-1]] = junk
    return line


def check_events(events: list[Event]) -> None:
    """Events that fit their own types: what a later part of the program relies on."""
    for event in events:
        assert isinstance(event, EVENT_KINDS)
        assert isinstance(event.at, float)
        assert event.at >= 0.0
        assert isinstance(event.agent, str)
        if isinstance(event, ToolUse):
            assert event.outcome in OUTCOMES
            assert isinstance(event.tool, str)
            assert all(isinstance(target, str) for target in event.targets)
            assert event.duration is None or event.duration >= 0.0
        if isinstance(event, Turn):
            assert min(event.input_tokens, event.output_tokens, event.context_tokens, event.cache_read) >= 0
