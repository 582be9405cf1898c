"""No log, however broken, stops a reader or costs more than what is broken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.events import ToolUse
from tests.core.agents.broken_values import JUNK, changed, check_events, places_in
from tests.core.agents.reading_more import Log, encoded, new_kit, read, uses
from tests.core.agents.samples_more import LOGS


def _is_tail(use: ToolUse) -> bool:
    return "tailtool" in (use.tool, use.program) and use.outcome != "pending"


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_tail_is_read_from_the_whole_log(log: Log) -> None:
    kit = new_kit()
    events = read(log.reader, log.records(log.entries), kit)
    check_events(events)
    assert len([use for use in uses(events) if _is_tail(use)]) == 1
    assert len(uses(events)) > 1
    assert kit.diagnostics.total == 0


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_one_wrong_field_costs_no_more_than_its_record(log: Log, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(log.entries) - 1))
    paths = places_in(log.entries[place])
    path = data.draw(st.sampled_from(paths))
    broken = changed(log.entries[place], path, data.draw(JUNK), data.draw(st.booleans()))
    entries = [*log.entries[:place], broken, *log.entries[place + 1 :]]
    events = read(log.reader, log.records(entries))
    check_events(events)
    assert [use for use in uses(events) if _is_tail(use)]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_whole_entry_of_junk_is_counted_or_ignored(log: Log, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(log.entries)))
    entries = [*log.entries[:place], data.draw(JUNK), *log.entries[place:]]
    events = read(log.reader, log.records(entries))
    check_events(events)
    assert [use for use in uses(events) if _is_tail(use)]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_cut_records_and_noise_are_counted(log: Log, data: st.DataObject) -> None:
    records = [encoded(record) for record in log.records(log.entries)]
    place = data.draw(st.integers(0, len(records) - 1))
    whole = records[place]
    cut = data.draw(st.one_of(st.binary(max_size=30), st.integers(0, len(whole) - 1).map(lambda end: whole[:end])))
    kit = new_kit()
    events = read(log.reader, [*records[:place], cut, *records[place + 1 :]], kit)
    check_events(events)
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
