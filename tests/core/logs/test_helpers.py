"""What forks of an agent's program spend counts in its session, once, and is nobody's doing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from core.agents.registry import make_kit
from core.agents.words import NOTHING, words_of
from core.events import MAIN, AgentStart, Event, Turn
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.session import read_session
from tests.core.logs import log_lines as logs

SIDE: dict[str, Any] = {"isSidechain": True, "agentId": "acompact-1"}


class Place:
    """A session's log, with a folder for those of its sub-agents and helpers."""

    def __init__(self, folder: Path) -> None:
        self.main = folder / "s-1.jsonl"
        self._side = folder / "s-1" / "subagents"
        self._side.mkdir(parents=True)

    def beside(self, agent: str) -> Path:
        return self._side / f"agent-{agent}.jsonl"

    def saved(self) -> list[Event]:
        kit = make_kit()
        [session] = sessions([self.main], kit)
        events = list(read_session(session, kit))
        assert kit.diagnostics.total == 0
        return events


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def copied(lines: bytes, agent: str = "acompact-1") -> bytes:
    """The same lines as a fork repeats them."""
    other = lines.replace(b'"uuid": "u', b'"uuid": "copy-').replace(b'"isSidechain": false', b'"isSidechain": true')
    return other.replace(b'"version"', f'"agentId": "{agent}", "version"'.encode())


def turns(events: list[Event]) -> list[str]:
    return [event.id for event in events if isinstance(event, Turn)]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_what_a_helper_spends_is_the_sessions(place: Place) -> None:
    place.main.write_bytes(logs.session(2))
    plain = place.saved()
    place.beside("acompact-1").write_bytes(
        logs.prompt(10, "Sum it up.", **SIDE) + logs.call(11, "own", **SIDE) + logs.result(12, "own", **SIDE)
    )
    events = place.saved()
    [total] = [event for event in events if event not in plain]
    assert isinstance(total, Turn)
    assert (total.agent, total.id, total.stop) == (MAIN, "m-own", "total")
    assert (total.input_tokens, total.output_tokens, total.cache_read) == (5, 7, 900)
    assert (total.context_tokens, total.context_window, total.said) == (0, 0, None)
    assert total.cost
    assert total.where is not None
    assert total.where.file == str(place.beside("acompact-1"))
    [session] = sessions([place.main], make_kit())
    assert [log.agent for log in session.logs] == [MAIN]
    assert not any(isinstance(event, AgentStart) for event in events)


@pytest.mark.parametrize("agent", ["acompact-1", "aprompt_suggestion-7", "aside_question-x"])
def test_what_it_repeats_counts_once(place: Place, agent: str) -> None:
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    place.main.write_bytes(logs.session(3))
    sub = logs.call(3.5, "x1", **side) + logs.result(4.5, "x1", **side)
    place.beside("a1").write_bytes(sub)
    fork = SIDE | {"agentId": agent}
    reminder = logs.prompt(10.5, "<system-reminder>mind</system-reminder>", isMeta=True, **fork)
    place.beside(agent).write_bytes(
        copied(logs.session(3) + sub, agent)
        + logs.prompt(10, "Sum it up.", **fork)
        + reminder
        + logs.call(11, "own", **fork)
        + logs.result(12, "own", **fork)
        + logs.call(13, "more", **fork)
        + logs.prompt(14, "[Request interrupted by user]", **fork)
    )
    assert Counter(turns(place.saved())) == Counter(["m-t0", "m-t1", "m-t2", "m-x1", "m-own", "m-more"])


def test_a_log_of_a_helper_is_no_session(place: Place) -> None:
    """It may also lie beside the log, as older versions did with those of sub-agents."""
    place.main.write_bytes(logs.session(2))
    beside = place.main.with_name("agent-acompact-1.jsonl")
    beside.write_bytes(logs.call(11, "own", **SIDE))
    [session] = sessions([place.main.parent], make_kit())
    assert [log.path for log in session.helpers] == [beside]


def timeless(events: list[Event]) -> list[Event]:
    """The events, those that only tell what was spent without the moment they are told of."""
    return [replace(one, at=0.0) if isinstance(one, Turn) and one.stop == "total" else one for one in events]


def test_a_session_that_is_followed_tells_the_same(place: Place) -> None:
    """The last answer before a compaction waits for its end while the fork repeats it already."""
    begun, more = logs.session(2) + logs.call(7, "last"), logs.result(12, "last") + logs.session(2, first=10)
    place.main.write_bytes(begun)
    follower = Follower(place.main, make_kit())
    events = follower.poll()
    assert turns(events) == ["m-t0", "m-t1"]
    assert turns(follower.pending_events()) == ["m-last"]
    append(place.beside("acompact-1"), copied(begun) + logs.prompt(10, "Sum it up.", **SIDE))
    events += follower.poll()
    assert turns(events) == ["m-t0", "m-t1"]
    append(place.beside("acompact-1"), logs.call(11, "own", **SIDE))
    events += follower.poll()
    assert turns(follower.pending_events()) == ["m-last", "m-own"]
    append(place.main, more)
    events += follower.poll()
    events += follower.finish()
    saved = list(place.saved())
    assert Counter(map(repr, timeless(events))) == Counter(map(repr, timeless(saved)))
    assert turns(events).count("m-own") == 1
    assert saved[-1].at == max(event.at for event in saved), "what is told last happened last"


def test_a_helper_that_is_there_at_the_start_is_followed_too(place: Place) -> None:
    place.main.write_bytes(logs.session(2))
    asked = logs.prompt(10, "Sum it up.", **SIDE)
    place.beside("acompact-1").write_bytes(copied(logs.session(2)) + asked + logs.call(11, "own", **SIDE))
    [session] = sessions([place.main], make_kit())
    follower = Follower(session, make_kit())
    events = follower.poll()
    assert turns(follower.pending_events()) == ["m-t1", "m-own"]
    assert [*events, *follower.finish()] == place.saved()


def test_a_fork_that_was_not_answered_spends_nothing(place: Place) -> None:
    place.main.write_bytes(logs.session(2))
    plain = place.saved()
    place.beside("acompact-1").write_bytes(copied(logs.session(2)) + logs.prompt(10, "Sum it up.", **SIDE))
    assert place.saved() == plain


def test_nobody_says_the_words_of_a_helper(place: Place) -> None:
    place.main.write_bytes(logs.session(2))
    said = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "In short."}], "usage": {}}
    place.beside("acompact-1").write_bytes(logs.line(11, type="assistant", message=said, **SIDE))
    [total] = [event for event in place.saved() if isinstance(event, Turn) and event.stop == "total"]
    assert words_of(total) == NOTHING


def test_a_real_compaction_is_paid_for(shared_data: Path) -> None:
    kit = make_kit()
    path = shared_data / "real_sessions" / "claude-code" / "ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl"
    [session] = sessions([path], kit)
    totals = [event for event in read_session(session, kit) if isinstance(event, Turn) and event.stop == "total"]
    assert [round(total.cost or 0.0, 2) for total in totals] == [0.77]
