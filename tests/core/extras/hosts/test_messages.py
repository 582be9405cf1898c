"""Subjects, ids and what is left of an event when it is sent."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.registry import make_kit
from core.events import AgentStart, Event, Prompt, SessionStart, Turn, Where
from core.extras.hosts.stream import ROOT, Names, Sender, name_of, parts, session_subject, token
from core.extras.telemetry.station import open_events
from tests.core.extras.hosts.servers import begins, use

names = st.text(st.characters(exclude_categories=()), max_size=200)


@given(names)
def test_a_name_is_one_part_of_a_subject_and_comes_back(name: str) -> None:
    part = token(name)
    assert re.fullmatch(r"[A-Za-z0-9_=~-]{1,120}", part)
    if "~" not in part:
        assert name_of(part) == name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@given(names, names)
def test_other_names_have_other_parts(one: str, other: str) -> None:
    assert (token(one) == token(other)) == (one == other)


@pytest.mark.parametrize(("length", "kept"), [(99, True), (100, True), (101, False)])
def test_a_name_is_shortened_beyond_a_hundred_letters(length: int, kept: bool) -> None:
    assert ("~" not in token("a" * length)) == kept


@given(names, names, names)
def test_a_subject_comes_apart_again(host: str, agent: str, session: str) -> None:
    assert parts(session_subject(host, agent, session)) == (token(host), token(agent), token(session))


@pytest.mark.parametrize("said", [ROOT, "noo.a.b", "noo.a.b.c.d", "other.a.b.c", "noo.a.b.../x", "noo.a.b."])
def test_other_subjects_are_not_ours(said: str) -> None:
    assert parts(said) is None


def test_ids_do_not_depend_on_the_order_of_reading() -> None:
    events: list[Event] = [begins("s"), *(use(number) for number in range(20))]
    forth, back = Sender("h", "a", "s"), Sender("h", "a", "s")
    told = {forth.message(event).id for event in events}
    assert told == {back.message(event).id for event in reversed(events)}
    assert len(told) == len(events)


def test_the_same_event_told_twice_has_two_ids_and_again_the_same_two() -> None:
    twice: list[Event] = [use(1), use(1)]
    first = [Sender("h", "a", "s").message(event).id for event in twice[:1]]
    sender = Sender("h", "a", "s")
    both = [sender.message(event).id for event in twice]
    assert both[0] == first[0] and both[1] != both[0]


@pytest.mark.parametrize("other", [("x", "a", "s"), ("h", "x", "s"), ("h", "a", "x")])
def test_another_host_agent_or_session_has_other_ids(other: tuple[str, str, str]) -> None:
    assert Sender(*other).message(use(1)).id != Sender("h", "a", "s").message(use(1)).id


def test_a_place_in_a_file_stays_on_its_host() -> None:
    event = use(1, where=Where("/home/me/log.jsonl", 5, 9), called=Where("/home/me/log.jsonl", 1, 2))
    told = json.loads(Sender("h", "a", "s").message(event).payload)
    assert "where" not in told and "called" not in told


def test_what_is_sent_is_read_back_to_the_letter() -> None:
    sender = Sender("h", "claude-code", "s")
    events: list[Event] = [begins("s"), use(1), Turn(at=5.0, id="t", model="m", output_tokens=3)]
    body = b"\n".join(sender.message(event).payload for event in events)
    told, faults = open_events(body, make_kit())
    assert [each.event for each in told] == events and faults.total == 0


def test_without_words_nothing_but_figures_is_sent() -> None:
    names = Names(b"key of the host")
    hidden: list[Event] = [
        SessionStart(at=1.0, session="s", tool="codex", project="/home/ann/secret-plan", branch="fix-leak"),
        use(1, targets=("secret-plan/a.py", "secret-plan/b.py"), program="deploytool", call=77, shape=78),
        use(2, targets=("secret-plan/a.py",), tool="mcp__secretserver__leak"),
        AgentStart(at=3.0, child="secret-child", role="secret-role"),
        use(4, agent="secret-child"),
        Prompt(at=4.0, characters=20, call=0xABCDEF),
    ]
    sender = Sender("h", "codex", "s", names)
    lines = [sender.message(event).payload for event in hidden]
    for word in (b"secret", b"leak", b"ann", b"deploytool", b"a.py", b"%016x" % 77, b"abcdef"):
        assert not any(word in line for line in lines), word
    start, first, second, child, fourth, _ = map(json.loads, lines)
    assert first["targets"][0] == second["targets"][0] != first["targets"][1]
    assert first["targets"][0].split("/")[0] == first["targets"][1].split("/")[0]
    assert child["child"] == fourth["agent"]
    assert (start["tool"], first["tool"], first["action"]) == ("codex", "Edit", "file_edit")


def test_another_key_gives_other_numbers() -> None:
    one, other = Names(b"one"), Names(b"other")
    assert one.path("a/b") == Names(b"one").path("a/b") != other.path("a/b")
    assert one.number(5) != other.number(5) and one.number(0) == 0


def test_a_name_that_is_not_utf8_is_sent() -> None:
    event = use(1, targets=("src/\udcff.py",))
    assert json.loads(Sender("h", "a", "s\udcff").message(event).payload)["targets"] == ["src/?.py"]
