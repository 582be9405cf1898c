"""A beginning in which any field holds anything is recognised or not, and never ends a command."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import make_kit
from core.logs.format import Format, Sample, recognise
from core.logs.glimpse import read_title

ODD: tuple[Any, ...] = (None, 5, 1e308, "x", [], {}, [5], [[]], {"a": 5}, {"content": 5}, [{"type": 5}])
AGENTS = make_kit().agents
FORMATS = [known for agent in AGENTS for known in agent.formats]

BEGINNINGS: tuple[dict[str, Any], ...] = (
    {
        "type": "message",
        "id": "1",
        "parentId": None,
        "timestamp": "2026-01-05T10:00:00Z",
        "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "Read", "input": {}}]},
    },
    {
        "type": "user",
        "uuid": "1",
        "parentUuid": None,
        "sessionId": "s",
        "isSidechain": False,
        "cwd": "/p",
        "timestamp": "2026-01-05T10:00:00Z",
        "message": {"role": "user", "content": [{"type": "text", "text": "a"}]},
    },
    {
        "timestamp": "2026-01-05T10:00:00Z",
        "type": "session_meta",
        "payload": {"id": "1", "cwd": "/p", "git": {"branch": "b"}, "instructions": "x"},
    },
    {
        "type": "session.start",
        "id": "1",
        "timestamp": "2026-01-05T10:00:00Z",
        "data": {"sessionId": "s", "context": {"cwd": "/p"}, "content": "x"},
    },
    {
        "sessionId": "s",
        "projectHash": "h",
        "startTime": "2026-01-05T10:00:00Z",
        "messages": [{"id": "1", "type": "user", "content": [{"text": "a"}], "toolCalls": [{"id": "c", "args": {}}]}],
    },
    {
        "info": {"id": "s", "title": "t", "time": {"created": 1}},
        "messages": [{"info": {"role": "user"}, "parts": [{"type": "text", "text": "a"}]}],
    },
    {
        "trajectory": [{"action": "ls", "observation": "x", "response": "y", "state": "{}", "thought": "z"}],
        "history": [{"role": "user", "content": "a"}],
        "info": {"model_stats": {}},
    },
    {"instance_id": "i", "history": [{"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}}]},
    {"version": 1, "messages": [{"role": "user", "ts": 1, "content": [{"type": "text", "text": "a"}]}]},
    {"at": 1.0, "session": "s", "tool": "Bash", "action": "shell_exec", "outcome": "success"},
)


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside another."""
    named = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in named:
        yield (*above, key)
        yield from places(inner, (*above, key))


def changed(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    """The same with one value replaced."""
    whole = inner = copy.deepcopy(value)
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = odd
    return whole


@pytest.mark.parametrize("beginning", BEGINNINGS, ids=lambda one: ",".join(one)[:30])
def test_no_sniffer_and_no_title_fails(beginning: dict[str, Any]) -> None:
    failed = []
    for place in places(beginning):
        for odd in ODD:
            head = json.dumps(changed(beginning, place, odd)).encode()
            for known in FORMATS:
                sample = Sample(head, Path("log.jsonl"))
                try:
                    known.sniff(sample)
                    read_title(head, b"", known.titles)
                except Exception as fault:  # noqa: BLE001 all are listed
                    failed.append(f"{known.name}: {place} = {odd!r}: {fault!r}")
    assert not failed


def test_a_sniffer_that_fails_is_not_sure_and_the_next_is_asked() -> None:
    def broken(sample: Sample) -> int:
        raise TypeError(sample)

    agent = AGENTS[0]
    other = agent._replace(formats=(agent.formats[0]._replace(sniff=broken),))
    sure = Format("sure", "lines", lambda sample: 10, agent.formats[0].reader)
    found = recognise(Sample(b"{}", Path("log")), (other, agent._replace(formats=(sure,))))
    assert found is sure
