"""No log, however broken, stops a reader or costs more than what is broken."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.events import EVENT_KINDS, Event, ToolUse
from tests.core.agents.reading_more import Log, encoded, new_kit, read, uses
from tests.core.agents.samples_more import LOGS

_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.lists(st.one_of(st.none(), st.integers(-9, 9), st.just({}), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.text(max_size=4), st.one_of(st.none(), st.integers(), st.just([])), max_size=2),
)


def _paths(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [above] if above else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += _paths(item, (*above, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            found += _paths(item, (*above, place))
    return found


def _mutated(entry: Any, path: tuple[Any, ...], junk: Any, remove: bool) -> Any:
    changed = copy.deepcopy(entry)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    if remove:
        del inner[path[-1]]
    else:
        inner[path[-1]] = junk
    return changed


def _is_tail(use: ToolUse) -> bool:
    return "tailtool" in (use.tool, use.program) and use.outcome != "pending"


def _sound(events: list[Event]) -> None:
    """Events that fit their own types: what a later part of the program relies on."""
    for event in events:
        assert isinstance(event, EVENT_KINDS)
        assert isinstance(event.at, float)
        assert isinstance(event.agent, str)
        if isinstance(event, ToolUse):
            assert isinstance(event.tool, str)
            assert all(isinstance(target, str) for target in event.targets)
            assert event.duration is None or event.duration >= 0.0


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_tail_is_read_from_the_whole_log(log: Log) -> None:
    kit = new_kit()
    events = read(log.reader, log.records(log.entries), kit)
    _sound(events)
    assert len([use for use in uses(events) if _is_tail(use)]) == 1
    assert len(uses(events)) > 1
    assert kit.diagnostics.total == 0


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_one_wrong_field_costs_no_more_than_its_record(log: Log, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(log.entries) - 1))
    paths = _paths(log.entries[place])
    path = data.draw(st.sampled_from(paths))
    changed = _mutated(log.entries[place], path, data.draw(_JUNK), data.draw(st.booleans()))
    entries = [*log.entries[:place], changed, *log.entries[place + 1 :]]
    events = read(log.reader, log.records(entries))
    _sound(events)
    assert [use for use in uses(events) if _is_tail(use)]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_whole_entry_of_junk_is_counted_or_ignored(log: Log, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(log.entries)))
    entries = [*log.entries[:place], data.draw(_JUNK), *log.entries[place:]]
    events = read(log.reader, log.records(entries))
    _sound(events)
    assert [use for use in uses(events) if _is_tail(use)]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_cut_records_and_noise_are_counted(log: Log, data: st.DataObject) -> None:
    records = [encoded(record) for record in log.records(log.entries)]
    place = data.draw(st.integers(0, len(records) - 1))
    whole = records[place]
    cut = data.draw(
        st.one_of(st.binary(max_size=30), st.integers(0, len(whole) - 1).map(lambda end: whole[:end]))
    )
    kit = new_kit()
    events = read(log.reader, [*records[:place], cut, *records[place + 1 :]], kit)
    _sound(events)
    if not _is_json(cut):
        assert kit.diagnostics.counts.get("not JSON") == 1
    if log.around is None and place < len(log.entries):
        assert [use for use in uses(events) if _is_tail(use)]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_deep_nesting_is_counted(log: Log) -> None:
    kit = new_kit()
    events = read(log.reader, [b"[" * 100_000, b'{"a":' * 100_000], kit)
    assert uses(events) == []
    assert kit.diagnostics.counts["not JSON"] == 2


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
