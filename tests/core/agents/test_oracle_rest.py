"""On every real log the readers agree with a naive count, on when it was, and on what it cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.events import Event, Prompt, SessionStart, Turn
from core.logs.finder import sessions
from core.logs.session import read_session
from tests.core.agents import oracle_rest
from tests.core.agents.oracle_more import Count
from tests.core.agents.real_logs import FILES, REAL
from tests.core.agents.test_oracle_more import counted

_ORACLES: dict[str, Callable[[Path], list[Count]]] = {
    "opencode": oracle_rest.opencode,
    "aider": oracle_rest.aider,
    "antigravity": oracle_rest.antigravity,
    "cline-sdk": oracle_rest.cline,
    "qwen": oracle_rest.qwen,
    "openhands-v1": oracle_rest.openhands_v1,
}
_PROMPTS: dict[str, Callable[[Path], int]] = {
    "claude-code": oracle_rest.claude_prompts,
    "codex": oracle_rest.codex_prompts,
}
_EDGE = 15.0
"""Seconds by which lines that tell nothing may stand before the first event and after the last."""


def _folder(path: Path) -> str:
    return path.relative_to(REAL).parts[0]


def _label(path: Path) -> str:
    return f"{_folder(path)}/{path.name}"


_MAIN = [path for path in FILES if "subagents" not in path.parts]
_COUNTED = [path for path in _MAIN if _folder(path) in _ORACLES]
_ASKED = [path for path in _MAIN if _folder(path) in _PROMPTS]
_ZONED = [path for path in _MAIN if path.suffix in (".json", ".jsonl") and _folder(path) != "openhands"]
"""OpenHands tells local times without their zone, and the model's in UTC."""


def _events(path: Path) -> list[Event]:
    kit = make_kit()
    return [event for session in sessions([path], kit) for event in read_session(session, kit)]


@pytest.mark.parametrize("path", _COUNTED, ids=_label)
def test_a_real_log_counts_as_the_oracle_says(path: Path) -> None:
    assert counted(_events(path)) == _ORACLES[_folder(path)](path)


@pytest.mark.parametrize("path", _ASKED, ids=_label)
def test_as_many_prompts_as_a_person_wrote(path: Path) -> None:
    said = [event for event in _events(path) if isinstance(event, Prompt) and not event.interrupt]
    assert len(said) == _PROMPTS[_folder(path)](path)


@pytest.mark.parametrize("path", _ZONED, ids=_label)
def test_a_session_begins_and_ends_when_its_log_says(path: Path) -> None:
    events = _events(path)
    assert not any(event.synthetic_time for event in events if isinstance(event, SessionStart))
    first, last = oracle_rest.span(path)
    assert first - 1.0 <= min(event.at for event in events) <= first + _EDGE
    assert last - _EDGE <= max(event.at for event in events) <= last + 1.0


@pytest.mark.skipif(not FILES, reason="no real logs beside the project")
def test_the_cost_of_nearly_all_that_tell_tokens_is_known() -> None:
    """What has no price is named: models that no public table holds, and answers without tokens."""
    without: set[str] = set()
    known = told = 0
    for path in _MAIN:
        for event in _events(path):
            if isinstance(event, Turn) and event.input_tokens + event.output_tokens:
                told += 1
                known += event.cost is not None
                if event.cost is None and "copilot-cli" not in path.parts:
                    without.add(event.model)
    assert known / told > 0.8
    assert without == {"aide-gpt-5", "gpt-5.3-codex-spark"}
