"""Reading for what was spent alone gives what reading everything gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.logs.finder import sessions
from core.logs.session import LogSession
from core.report.cost import CostReader, SessionCost, session_cost
from core.settings import Settings


def whole(session: LogSession) -> SessionCost:
    reader = CostReader(session, Settings(), make_kit())
    assert reader.advance()
    return reader.made


def without_calls(cost: SessionCost) -> SessionCost:
    cost.calls = cost.failures = 0
    return cost


def test_every_real_session_is_charged_the_same(shared_data: Path) -> None:
    short = 0
    for folder in ("real_sessions", "more_sessions"):
        for session in sessions([shared_data / folder], make_kit()):
            all_of_it, spent = whole(session), session_cost(session, Settings())
            short += spent.calls < all_of_it.calls
            assert without_calls(spent) == without_calls(all_of_it), session.path
    assert short > 20, "the calls of most logs of Claude Code were not read"


def broken(lines: list[bytes], dice: random.Random) -> bytes:
    """Lines with one kind of damage, at a few places."""
    kind = dice.randrange(8)
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(lines))
        match kind:
            case 0:
                del lines[: min(at, len(lines) - 1)]
            case 1:
                lines.insert(at, lines[dice.randrange(len(lines))])
            case 2:
                lines[at : at + 2] = [b"".join(lines[at : at + 2])]
            case 3:
                lines[at : at + 2] = lines[at : at + 2][::-1]
            case 4:
                lines[at] = lines[at].replace(b'"timestamp":"20', b'"timestamp":"19', dice.randrange(2))
            case 5:
                lines[at] = lines[at][: dice.randrange(len(lines[at]) + 1)]
            case 6:
                lines[at] = lines[at].replace(b'"isSidechain":false', b'"isSidechain":true')
            case _:
                lines[at] = lines[at].replace(b'"timestamp"', b'"no"', dice.randrange(2))
    return b"\n".join(lines)


@pytest.mark.parametrize("seed", range(24))
def test_broken_logs_are_charged_the_same(seed: int, shared_data: Path, tmp_path: Path) -> None:
    dice = random.Random(seed)  # noqa: S311 damage, not secrets
    names = (
        "pomodoro-timer",
        "tracker",
        "inline-sidechain",
        "small-task_sdk",
        "JanDeDobbeleer_oh-my-posh__a1_5c30369ec4_1",
    )
    source = shared_data / "real_sessions" / "claude-code" / f"{names[seed % len(names)]}.jsonl"
    log = tmp_path / "s.jsonl"
    for _ in range(4):
        log.write_bytes(broken(source.read_bytes().splitlines(), dice))
        for session in sessions([log], make_kit()):
            assert without_calls(session_cost(session, Settings())) == without_calls(whole(session))
