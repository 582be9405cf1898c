"""A line that holds several objects is cut into them; any other is left whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.registry import make_kit
from core.events import Where
from core.logs.format import Diagnostics
from core.logs.lines import glued_objects

PLACE = Where("log", 100, 0)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b"{}", []),
        (b'{"a":1}', []),
        (b'{"a":"}{"}', []),
        (b'{"a":1', []),
        (b'{"a"{"b":2}', []),
        (b"no json}{}", []),
        (b"[1]{}", []),
        (b"{}{}", [(0, b"{}"), (2, b"{}")]),
        (b'{"a":"\xc3\xa4"} \t{"b":2}', [(0, b'{"a":"\xc3\xa4"}'), (12, b'{"b":2}')]),
        (b'{"a":"}{"}{"b":2}{"c":3}', [(0, b'{"a":"}{"}'), (10, b'{"b":2}'), (17, b'{"c":3}')]),
        (b'{"a":1}{"b"', [(0, b'{"a":1}'), (7, b'{"b"')]),
        (b'{"a":1},"b":2}', [(0, b'{"a":1}'), (7, b',"b":2}')]),
        (b'{"a":1}\n{"b":2}', []),
        (b"{" * 5000 + b"}{", []),
    ],
)
def test_where_objects_end(line: bytes, parts: list[tuple[int, bytes]]) -> None:
    found = glued_objects(line, PLACE)
    assert [(place.offset - 100, data) for data, place in found] == parts
    assert all((place.file, place.length) == ("log", len(data)) for data, place in found)


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers()), min_size=2, max_size=5))
def test_what_was_glued_comes_apart_again(values: list[dict[str, object]]) -> None:
    pieces = [json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") for value in values]
    assert [data for data, _ in glued_objects(b"".join(pieces), PLACE)] == pieces


@pytest.mark.parametrize(("number", "parts"), [(10_000, 10_000), (10_001, 0), (500_000, 0)])
def test_a_line_of_very_many_objects_stays_one_broken_line(number: int, parts: int) -> None:
    assert len(glued_objects(b"{}" * number, PLACE)) == parts


@pytest.mark.parametrize("name", ["codex", "pi", "gemini"])
def test_every_reader_of_lines_takes_them_apart(name: str) -> None:
    diagnostics = Diagnostics()
    kit = make_kit().counting(diagnostics)
    [agent] = [one for one in kit.agents if one.name == name]
    reader = next(one for one in agent.formats if one.style == "lines").reader(kit)
    reader.feed(b'{"type":"x"}{"type":"y"}', Where("log", 0, 24), 1)
    assert diagnostics.counts == {}
    reader.feed(b'{"type":"x"}{"type":', Where("log", 0, 20), 2)
    assert diagnostics.counts == {"not JSON": 1}
