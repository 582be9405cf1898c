"""Later agents: counted on logs from elsewhere, broken in every field, cut anywhere, live as saved."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.acp import AcpReader, GrokReader
from core.agents.registry import make_kit
from core.agents.words import WordReader
from core.events import MAIN, AgentStart, Compaction, Event, Prompt, SessionStart, ToolUse, Turn, Where
from core.logs.discovery import describe_sessions, find
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.glimpse import title_of
from core.logs.session import read_session
from tests.core.agents.broken_values import JUNK, changed, check_events, places_in
from tests.core.agents.oracle import lines_of
from tests.core.agents.samples import encoded, feed, new_kit
from tests.core.agents.samples_wider import BEGAN, DATABASES, DOCUMENTS, LOGS, OPENCLAW, openclaw_database, rpc, update
from tests.core.agents.samples_wider import grok as grok_line

_MORE = Path(__file__).resolve().parents[4] / "shared" / "data" / "more_sessions"
Figures = tuple[int, int, int]
"""Calls, failures and prompts."""


def _read(path: Path) -> list[Event]:
    kit = make_kit()
    return [event for session in sessions([path], kit) for event in read_session(session, kit)]


def _figures(events: list[Event]) -> Figures:
    uses = [event for event in events if isinstance(event, ToolUse)]
    asked = [event for event in events if isinstance(event, Prompt) and not event.interrupt]
    failed = [use for use in uses if use.outcome == "failure" or (use.outcome == "empty" and use.exit_code)]
    return len(uses), len(failed), len(asked)


@pytest.mark.parametrize("agent", LOGS)
def test_a_small_log_is_known_and_read(agent: str, tmp_path: Path) -> None:
    _, lines, figures = LOGS[agent]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(encoded(line) + b"\n" for line in lines))
    events = _read(path)
    assert {event.tool for event in events if isinstance(event, SessionStart)} == {agent}
    assert _figures(events) == figures
    assert any(isinstance(event, Turn) and event.said for event in events)


@pytest.mark.parametrize("agent", [*LOGS, "atif", "devin"])
def test_a_session_is_called_by_its_first_request(agent: str, tmp_path: Path) -> None:
    """Also where requests are deep inside records."""
    content = LOGS[agent][1] if agent in LOGS else DOCUMENTS[agent][1]
    path = tmp_path / ("log.jsonl" if agent in LOGS else "log.json")
    path.write_bytes(b"\n".join(encoded(line) for line in content))
    (session,) = sessions([path], make_kit())
    assert title_of(session) == "Fix it."


@pytest.mark.parametrize("agent", DATABASES)
def test_a_database_is_known_and_read_once_however_often_it_is_looked_at(agent: str, tmp_path: Path) -> None:
    write, figures = DATABASES[agent]
    path = tmp_path / "store.db"
    write(path)
    events = _read(path)
    assert [event.tool for event in events if isinstance(event, SessionStart)] == [agent]
    assert _figures(events) == figures
    kit = make_kit()
    [session] = sessions([path], kit)
    follower = Follower(session, kit)
    told = follower.poll()
    path.touch()
    told += follower.poll()
    assert _figures(told + follower.finish()) == figures


@pytest.mark.parametrize("agent", [*LOGS, *DOCUMENTS])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_any_field_may_be_anything(agent: str, data: st.DataObject) -> None:
    kind, lines = DOCUMENTS[agent] if agent in DOCUMENTS else LOGS[agent][:2]
    broken = list(lines)
    at = data.draw(st.integers(0, len(broken) - 1))
    place = data.draw(st.sampled_from(places_in(broken[at])))
    broken[at] = changed(broken[at], place, data.draw(JUNK), remove=data.draw(st.booleans()))
    events = feed(kind(new_kit(), session="x"), broken)
    check_events(events)
    assert events == feed(kind(new_kit(), session="x"), broken)


@pytest.mark.parametrize("agent", LOGS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_a_log_cut_anywhere_and_written_otherwise_tells_the_same_live_and_saved(
    agent: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Keys in another order and blanks after colons change nothing; nor does how it arrives."""
    _, lines, _ = LOGS[agent]
    path = tmp_path_factory.mktemp("cut") / "log.jsonl"
    plain = b"".join(encoded(line) + b"\n" for line in lines)
    path.write_bytes(plain)
    saved = _read(path)
    other = b"".join(json.dumps(line, sort_keys=True, ensure_ascii=False).encode() + b"\n" for line in lines)
    path.write_bytes(other)
    assert [_shape(event) for event in _read(path)] == [_shape(event) for event in saved]
    cuts = sorted(data.draw(st.lists(st.integers(1, len(plain) - 1), max_size=6)))
    path.write_bytes(b"")
    follower = Follower(path, make_kit())
    told = follower.poll()
    for start, end in zip([0, *cuts], [*cuts, len(plain)], strict=True):
        with path.open("ab") as file:
            file.write(plain[start:end])
        told += follower.poll()
    assert told + follower.finish() == saved


def _shape(event: Event) -> Any:
    outcome = event.outcome if isinstance(event, ToolUse) else ""
    return type(event).__name__, event.at, event.agent, outcome, getattr(event, "call", 0)


def kiro(path: Path) -> Figures:
    """Lines by kind; an exit status other than 0 in a result is a failure, as is an error of the harness."""
    calls = failures = prompts = 0
    for line in lines_of(path):
        prompts += line["kind"] == "Prompt"
        for part in (line.get("data") or {}).get("content") or []:
            calls += part["kind"] == "toolUse"
            if part["kind"] == "toolResult":
                exits = re.findall(r"exit status: (\d+)", json.dumps(part))
                stopped = (line["data"]["results"][part["data"]["toolUseId"]]).get("result") == "Cancelled"
                failed = part["data"]["status"] == "error" or any(int(one) for one in exits)
                failures += failed and not stopped
    return calls, failures, prompts


def vibe(path: Path) -> Figures:
    """Messages by role."""
    calls = failures = prompts = 0
    for line in lines_of(path):
        calls += len(line.get("tool_calls") or [])
        failures += line["role"] == "tool" and str(line.get("content")).startswith("<tool_error>")
        prompts += line["role"] == "user" and not line.get("injected") and bool(line.get("content"))
    return calls, failures, prompts


def hermes(path: Path) -> Figures:
    """Rows by role, or the messages of a document; results are JSON that says how they ended."""
    rows = json.loads(path.read_text())["messages"] if path.suffix == ".json" else lines_of(path)
    calls = failures = prompts = 0
    for row in rows:
        listed = row.get("tool_calls") or []
        calls += len(json.loads(listed) if isinstance(listed, str) else listed)
        said = row.get("content") or ""
        prompts += row["role"] == "user" and not row.get("display_kind") and "[ASYNC DELEG" not in said
        if row["role"] == "tool" and said.startswith("{"):
            told = json.loads(said)
            failures += bool(told.get("exit_code") or told.get("error") or told.get("success") is False)
    return calls, failures, prompts


def grok(path: Path) -> Figures:
    """Lines of chat history by type."""
    calls = prompts = 0
    for line in lines_of(path):
        calls += len(line.get("tool_calls") or []) + (line["type"] == "backend_tool_call")
        prompts += line["type"] == "user" and line.get("synthetic_reason") in (None, "interjection")
    return calls, 0, prompts


def atif(path: Path) -> Figures:
    """Steps of the trajectory and of those embedded in it, copied ones left out."""
    document = json.loads(path.read_text())
    parts = [document] if "steps" in document else list(document.values())
    parts += document.get("subagent_trajectories") or []
    calls = failures = prompts = 0
    for number, part in enumerate(parts):
        for step in part["steps"]:
            if step.get("is_copied_context"):
                continue
            calls += len(step.get("tool_calls") or [])
            prompts += step["source"] == "user" and number == 0
            for one in (step.get("observation") or {}).get("results") or []:
                failures += str(one.get("content")).startswith(("Error:", "ERROR"))
    return calls, failures, prompts


def vscode(path: Path) -> Figures:
    """Requests of a snapshot."""
    return 0, 0, len(json.loads(path.read_text())["requests"])


_ORACLES: dict[str, tuple[str, Callable[[Path], Figures]]] = {
    "kiro": ("*.jsonl", kiro),
    "mistral-vibe": ("**/*.jsonl", vibe),
    "hermes": ("*.json*", hermes),
    "grok": ("**/*.jsonl", grok),
    "atif": ("*.json", atif),
    "vscode-copilot-chat": ("*.json", vscode),
}
_TITLES = {"vscode-copilot-chat": "vscode-chat"}
_FILES = [
    pytest.param(folder, path, id=f"{folder}/{path.parent.name}/{path.name}")
    for folder, (pattern, _) in _ORACLES.items()
    for path in sorted((_MORE / folder).glob(pattern))
    if "legacy" not in path.parts or path.name != "chat_history.jsonl"
]


@pytest.mark.skipif(not _FILES, reason="no logs beside the project")
@pytest.mark.parametrize(("folder", "path"), _FILES)
def test_a_log_from_elsewhere_counts_as_a_naive_count_says(folder: str, path: Path) -> None:
    events = _read(path)
    assert {event.tool for event in events if isinstance(event, SessionStart)} == {_TITLES.get(folder, folder)}
    assert _figures(events) == _ORACLES[folder][1](path)


@pytest.mark.skipif(not _FILES, reason="no logs beside the project")
def test_every_folder_is_compared() -> None:
    counts = {folder: sum(one.values[0] == folder for one in _FILES) for folder in _ORACLES}
    assert counts["kiro"] >= 29
    assert counts["mistral-vibe"] >= 38
    assert counts["hermes"] >= 27
    assert counts["atif"] == 15
    assert counts["grok"] == 4


def test_what_acp_asks_the_person_is_rejected_when_they_refuse() -> None:
    kind, lines, _ = LOGS["acp"]
    uses = {event.id: event for event in feed(kind(new_kit()), lines) if isinstance(event, ToolUse)}
    assert uses["c1"].outcome == "failure"
    assert uses["c1"].exit_code == 2
    assert uses["c2"].outcome == "rejected"
    assert uses["c2"].targets == ("a.c",)


def test_grok_names_its_sub_agents_compactions_and_costs() -> None:
    kind, lines, _ = LOGS["grok"]
    events = feed(kind(new_kit()), lines)
    assert [event.child for event in events if isinstance(event, AgentStart)] == ["kid"]
    assert [event.tokens_after for event in events if isinstance(event, Compaction)] == [90]
    [turn] = [event for event in events if isinstance(event, Turn)]
    assert (turn.input_tokens, turn.cache_read, turn.output_tokens, turn.cost) == (40, 60, 20, 0.002)
    assert turn.stop == "end_turn"
    assert turn.agent == MAIN


@pytest.mark.parametrize("sign", ["usageIsIncomplete", "costIsPartial"])
def test_a_turn_whose_usage_grok_calls_incomplete_has_no_known_price(sign: str) -> None:
    usage = {"inputTokens": 100, "outputTokens": 20, sign: True}
    [turn] = feed(GrokReader(new_kit()), [grok_line(1, "turn_completed", own=True, usage=usage)])[1:]
    assert isinstance(turn, Turn)
    assert (turn.input_tokens, turn.output_tokens, turn.cost) == (100, 20, None)


def test_the_known_part_of_an_incomplete_cost_of_grok_is_counted() -> None:
    """The sum is then a minimum: a price that is known, and a turn whose own is not."""
    usage = {"inputTokens": 100, "outputTokens": 20, "costUsdTicks": 5_000_000_000, "usageIsIncomplete": True}
    turns = feed(GrokReader(new_kit()), [grok_line(1, "turn_completed", own=True, usage=usage)])[1:]
    assert [turn.cost for turn in turns if isinstance(turn, Turn)] == [0.5, None]


def test_a_chat_history_of_grok_tells_no_tokens() -> None:
    [start, *_] = feed(GrokReader(new_kit()), [{"type": "user", "content": "Fix it.", "prompt_index": 0}])
    assert isinstance(start, SessionStart)
    assert start.untold == ("times", "tokens", "cost")


@pytest.mark.parametrize("agent", [*LOGS, "atif", "devin"])
def test_the_words_of_a_log_can_be_read_again(agent: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = LOGS[agent][1] if agent in LOGS else DOCUMENTS[agent][1]
    path.write_bytes(b"".join(encoded(line) + b"\n" for line in lines))
    _check_words(path)


@pytest.mark.parametrize("agent", DATABASES)
def test_the_words_of_a_database_can_be_read_again(agent: str, tmp_path: Path) -> None:
    DATABASES[agent][0](tmp_path / "store.db")
    _check_words(tmp_path / "store.db")


def _check_words(path: Path) -> None:
    """Prompts, answers, calls and their outputs are found at the places that their events name."""
    reader = WordReader()
    for event in _read(path):
        words = reader.words(event)
        if isinstance(event, Prompt) and event.characters:
            assert len(words.said) == event.characters
        elif isinstance(event, Turn) and event.said is not None:
            assert words.said
        elif isinstance(event, ToolUse):
            assert words.command or words.after or event.outcome == "rejected"
            assert words.output or not event.size


def test_a_prompt_in_chunks_is_one_prompt(tmp_path: Path) -> None:
    """Neighbours of one message are joined, also while the log still grows; another message is another prompt."""
    chunks = [
        update(1, "user_message_chunk", content={"type": "text", "text": text}, messageId=message)
        for text, message in (("Fix ", "m1"), ("it.", "m1"), ("Now.", "m2"))
    ]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(encoded(line) + b"\n" for line in chunks))
    prompts = [event for event in _read(path) if isinstance(event, Prompt)]
    assert [WordReader().words(prompt).said for prompt in prompts] == ["Fix it.", "Now."]
    reader = AcpReader(new_kit())
    assert [type(event) for event in reader.feed(encoded(chunks[0]), Where("log"), 1)] == [SessionStart]
    assert [event.characters for event in reader.pending_events() if isinstance(event, Prompt)] == [4]


def test_what_a_session_costs_by_its_own_count_is_divided_among_its_turns() -> None:
    """`usage_update` has the sum so far; another currency is unknown."""
    costs = [(0.25, "USD"), (0.75, "USD"), (9.0, "EUR")]
    messages = [rpc(0, "client", id=0, method="session/new", params={})]
    for number, (cost, currency) in enumerate(costs, 1):
        messages += [
            rpc(number, "client", id=number, method="session/prompt", params={"prompt": []}),
            update(number, "usage_update", used=100, size=1000, cost={"amount": cost, "currency": currency}),
            rpc(number, "agent", id=number, result={"stopReason": "end_turn", "usage": {"inputTokens": 10}}),
        ]
    turns = [event for event in feed(AcpReader(new_kit()), messages) if isinstance(event, Turn)]
    assert [turn.cost for turn in turns] == [0.25, 0.5, None]


def test_results_and_ends_of_turns_in_a_cursor_transcript_are_no_prompts(tmp_path: Path) -> None:
    """Transcripts of other versions name calls and results otherwise."""
    path = tmp_path / "log.jsonl"
    lines: list[dict[str, Any]] = [
        {"role": "user", "message": {"content": [{"type": "text", "text": "Run it."}]}},
        {
            "role": "assistant",
            "message": {"content": [{"type": "tool_call", "toolName": "Shell", "args": {"a": "ls"}}]},
        },
        {"role": "user", "message": {"content": [{"type": "tool-result", "content": "x"}]}},
        {"type": "turn_ended", "status": "success"},
    ]
    path.write_bytes(b"".join(encoded(line) + b"\n" for line in lines))
    events = _read(path)
    assert [event.characters for event in events if isinstance(event, Prompt)] == [7]
    assert [event.tool for event in events if isinstance(event, ToolUse)] == ["Shell"]


def test_a_database_of_openclaw_holds_several_sessions(tmp_path: Path) -> None:
    path = tmp_path / "openclaw-agent.sqlite"
    openclaw_database(path)
    with sqlite3.connect(path) as database:
        for number, line in enumerate(OPENCLAW):
            line = {**line, "id": "openclaw-2"} if line["type"] == "session" else line
            database.execute("INSERT INTO transcript_events VALUES ('openclaw-2', ?, ?, 1)", (number, json.dumps(line)))
    kit = make_kit()
    found = sessions([path], kit)
    assert [session.id for session in found] == ["openclaw-1", "openclaw-2"]
    assert [_figures(list(read_session(session, kit))) for session in found] == [(1, 1, 1)] * 2


@pytest.mark.parametrize(("agent", "title"), [("kiro", "Fix it."), ("openclaw", "Fix it."), ("hermes", "Mill")])
def test_a_session_of_a_database_has_a_title_found_by_itself_or_by_path(agent: str, title: str, tmp_path: Path) -> None:
    place = {
        "kiro": ".local/share/kiro-cli/data.sqlite3",
        "openclaw": ".openclaw/agents/main/agent/openclaw-agent.sqlite",
        "hermes": ".hermes/state.db",
    }[agent]
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    DATABASES[agent][0](path)
    kit = make_kit()
    assert [one.title for one in find(kit.agents, {}, tmp_path, now=BEGAN) if one.agent == agent] == [title]
    listed = sessions([path], kit)
    assert [one.title for one in describe_sessions(kit.agents, listed, BEGAN)] == [title]
    assert [title_of(one) for one in listed] == [title]
