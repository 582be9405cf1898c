"""Ordinary prompts of real sessions, under our own profile and under the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from blake3 import blake3

from core.engine.governor.episode import GovernorEpisode
from core.engine.governor.governor import Governor
from core.events import Action, Event, Outcome, Prompt, ToolUse
from core.settings.governor import GovernorEpisodeSettings, GovernorSettings, ProfileName
from tests.core.engine.governor.events import Heard

ACTIONS: dict[str, Action] = {
    "Read": "file_read",
    "Edit": "file_edit",
    "MultiEdit": "file_edit",
    "Write": "file_edit",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    "Bash": "shell_exec",
    "Task": "delegation",
    "TodoWrite": "plan",
}


def mark(value: Any) -> int:
    """A fingerprint of anything JSON can say."""
    return int.from_bytes(blake3(msgspec.json.encode(value)).digest(8), "big")


def events(log: Path) -> Iterator[Event]:
    """The prompts and tool uses of a log, roughly."""
    calls: dict[str, Any] = {}
    for line in log.read_bytes().splitlines():
        try:
            row = msgspec.json.decode(line)
        except msgspec.DecodeError:
            continue
        content = row.get("message", {}).get("content")
        if row.get("type") not in {"assistant", "user"} or row.get("isMeta") or row.get("isCompactSummary"):
            continue
        at = datetime.fromisoformat(row["timestamp"]).timestamp()
        parts = content if isinstance(content, list) else []
        calls |= {part["id"]: part for part in parts if part.get("type") == "tool_use"}
        results = [part for part in parts if part.get("tool_use_id") in calls]
        for part in results:
            call = calls[part["tool_use_id"]]
            outcome: Outcome = "failure" if part.get("is_error") else "success"
            yield ToolUse(
                at=at,
                action=ACTIONS.get(call["name"], "other"),
                tool=call["name"],
                outcome=outcome,
                call=mark((call["name"], call["input"])),
                result=mark(part.get("content")),
            )
        if row["type"] == "user" and not results:
            yield Prompt(at=at, characters=len(str(content)))


def episodes(folder: Path, profile: ProfileName) -> list[GovernorEpisode]:
    """Every governed episode of every log below a folder."""
    settings = GovernorSettings(profile=profile, episodes=GovernorEpisodeSettings(kept=1000))
    found: list[GovernorEpisode] = []
    for log in sorted(folder.rglob("*.jsonl")):
        governor = Governor(settings)
        seen: Counter[str] = Counter()
        last = 0.0
        for event in events(log):
            elapsed = min(max(event.at - last, 0.0), 180.0) if last else 0.0
            last = max(event.at, last)
            novelty = 1.0
            if isinstance(event, ToolUse):
                novelty = 10 / (10 + seen[event.tool])
                seen[event.tool] += 1
            Heard(event, novelty, elapsed).to(governor)
        Heard(Prompt(at=last, characters=1)).to(governor)
        found += governor.read().past
    return found


@pytest.fixture(scope="module")
def sessions(shared_data: Path) -> Path:
    """Logs as Claude Code wrote them."""
    folder = shared_data / "real_sessions" / "claude-code"
    if not folder.is_dir():
        pytest.skip("no real sessions beside the project")
    return folder


def test_ordinary_prompts_do_not_halt_under_our_own_profile(sessions: Path) -> None:
    found = episodes(sessions, "observing")
    assert len(found) > 30
    assert max(episode.steps for episode in found) > 100
    assert not [episode.sentence for episode in found if episode.halt]


def test_the_published_fuse_would_end_some_of_them(sessions: Path) -> None:
    found = episodes(sessions, "balanced")
    assert any(episode.halt == "EXTERNAL" and episode.after_halt for episode in found)
