"""The readers agree with a naive count on real logs, and each real log is known for what it is."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.agents.chat import ChatReader
from core.agents.registry import AGENTS
from core.events import MAIN, AgentStart, Compaction, Event, Prompt, SessionStart, ToolUse
from core.logs.format import Format, Sample, recognise
from tests.core.agents import oracle_more
from tests.core.agents.oracle_more import Count
from tests.core.agents.reading_more import encoded, new_kit, read
from tests.core.agents.real_logs import FILES as _FILES
from tests.core.agents.real_logs import REAL as _REAL
from tests.core.agents.real_logs import agent_of
from tests.core.agents.samples_more import LOGS
from tests.core.agents.samples_rest import OPENHANDS_FOLDER

_ORACLES: dict[str, Callable[[Path], list[Count]]] = {
    "gemini": oracle_more.gemini,
    "pi": oracle_more.pi,
    "copilot-cli": oracle_more.copilot,
    "swe-agent": oracle_more.swe_agent,
    "mini-swe-agent": oracle_more.mini_swe_agent,
    "openhands": oracle_more.openhands,
}
_OURS = [path for path in _FILES if path.parent.name in _ORACLES]
_STYLES = {".traj": "document", ".json": "document", ".jsonl": "lines"}


def _recognised(path: Path) -> list[tuple[int, Format]]:
    with path.open("rb") as stream:
        sample = Sample(stream.read(65_536), path)
    scored = [(known.sniff(sample), known) for agent in AGENTS for known in agent.formats]
    return sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])


def _label(path: Path) -> str:
    return f"{path.relative_to(_REAL).parts[0]}/{path.name}"


def counted(events: list[Event]) -> list[Count]:
    counts: list[Count] = []
    for event in events:
        if isinstance(event, SessionStart) and event.agent == MAIN:
            counts.append(Count())
        now = counts[-1]
        if isinstance(event, ToolUse):
            now.tool_uses += 1
            failed_search = event.outcome == "empty" and bool(event.exit_code)
            now.errors += event.outcome == "failure" or failed_search
            now.pending += event.outcome == "pending"
        now.prompts += isinstance(event, Prompt) and not event.interrupt
        now.subagents += isinstance(event, AgentStart)
        now.compactions += isinstance(event, Compaction)
    return counts


@pytest.mark.skipif(not _FILES, reason="no real logs beside the project")
@pytest.mark.parametrize("path", _FILES, ids=_label)
def test_a_real_log_is_known_for_what_it_is(path: Path) -> None:
    agent = agent_of(path)
    found = _recognised(path)
    assert found
    assert found[0][1].name == agent
    assert len(found) == 1 or found[1][0] < found[0][0] - 15 or found[1][1].name == agent
    if path in _OURS:
        assert found[0][1].style == _STYLES[path.suffix]


@pytest.fixture(autouse=True)
def _flags_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A naive count knows a failure by the log's flag; failures that a pipe hides have tests of their own."""
    monkeypatch.setattr("core.agents.calls._hides_failure", lambda *_: False)


@pytest.mark.skipif(not _OURS, reason="no real logs beside the project")
@pytest.mark.parametrize("path", _OURS, ids=_label)
def test_a_real_log_counts_as_the_oracle_says(path: Path) -> None:
    known = _recognised(path)[0][1]
    raw = path.read_bytes()
    kit = new_kit()
    events = read(known.reader, raw.splitlines() if known.style == "lines" else [raw], kit)
    assert counted(events) == _ORACLES[path.parent.name](path)
    assert kit.diagnostics.total == 0
    for event in events:
        assert event.where is not None


@pytest.mark.skipif(not _FILES, reason="no real logs beside the project")
def test_labelled_runs_count_as_the_oracle_says(shared_data: Path) -> None:
    kit = new_kit()
    wrong = checked = uses = 0
    with gzip.open(shared_data / "labelled_runs" / "dev.jsonl.gz") as stream:
        for number, line in enumerate(stream):
            if number % 11:
                continue
            counts = counted(read(ChatReader, [line], kit))
            checked += 1
            uses += counts[0].tool_uses
            wrong += counts != [oracle_more.chat_run(json.loads(line))]
    assert checked > 200
    assert uses > 3000
    assert wrong == 0
    assert kit.diagnostics.total == 0


@pytest.mark.skipif(not _FILES, reason="no real logs beside the project")
def test_labelled_runs_are_known_as_chat(shared_data: Path) -> None:
    with gzip.open(shared_data / "labelled_runs" / "dev.jsonl.gz") as stream:
        sample = Sample(stream.read(65_536), Path("dev.jsonl"))
    scored = sorted(
        ((known.sniff(sample), known.name, known.style) for agent in AGENTS for known in agent.formats), reverse=True
    )
    assert scored[0][1:] == ("chat", "lines")


def _session_file() -> dict[str, Any]:
    return {"id": "ses_1", "projectID": "p", "directory": "/w", "title": "t", "time": {"created": 1, "updated": 2}}


@pytest.mark.parametrize(
    ("records", "name", "style"),
    [
        *(
            (log.records(log.entries), log.name.split()[0], "lines" if log.around is None else "document")
            for log in LOGS
            if log.name not in ("opencode", "openhands folder", "chat run", "crush")
        ),
        ([OPENHANDS_FOLDER.entries[1]], "openhands", "folder"),
        ([_session_file()], "opencode", "folder"),
        ([{"info": _session_file(), "messages": []}], "opencode", "document"),
        ([{"messages": [{"role": "user", "content": "x"}]}], "chat", "document"),
        ([[{"role": "user", "content": "x"}]], "chat", "document"),
        ([{"history": [], "instance_id": "a", "git_patch": "", "metadata": {}, "action": ""}], "openhands", "lines"),
    ],
)
def test_a_small_log_is_known_for_what_it_is(records: list[Any], name: str, style: str) -> None:
    for data in (b"\n".join(map(encoded, records)), _spread(records)):
        found = recognise(Sample(data, Path("anything")), AGENTS)
        assert found is not None
        assert (found.name, found.style) == (name, style)


def _spread(records: list[Any]) -> bytes:
    """The same where a program writes a lone document over many lines."""
    return json.dumps(records[0], indent=2).encode() if len(records) == 1 else b"\n".join(map(encoded, records))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"a": 1}\n{"b": 2}\n',
        b'{"name": "x", "version": "1"}',
        b"\x00\x01",
        b'[{"role": 5}]',
    ],
)
def test_what_is_no_log_is_known_as_none(data: bytes) -> None:
    assert recognise(Sample(data, Path("session.jsonl")), AGENTS) is None
