"""Windows of a plan: what is kept over a restart, when one runs out, and which session uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.report.plan_limits import (
    LimitHistory,
    LimitSample,
    PlanLimit,
    claude_samples,
    codex_log_samples,
    read_limits,
    session_shares,
)
from core.report.sums import KeptCharge, KeptCost

HOUR = 3600.0
START = 1_794_000_000.0
END = START + 5 * HOUR


def sample(hours: float, used: float, resets_at: float = END) -> LimitSample:
    return LimitSample(START + hours * HOUR, "claude-code", 300, used, resets_at)


@pytest.mark.parametrize(
    ("samples", "runs_out"),
    [
        ([sample(2, 0.5)], START + 4 * HOUR),
        ([sample(2, 0.4)], None),
        ([sample(2, 0.39)], None),
        ([sample(2, 0.41)], START + 2 * HOUR * (1 + 0.59 / 0.41)),
        ([sample(1, 0.6), sample(2, 0.6)], None),
        ([sample(1, 0.1), sample(2, 0.5)], START + 3.25 * HOUR),
        ([sample(0.07, 0.5)], None),
        ([sample(4, 1.0)], None),
        ([sample(1, 0.9, END - 5 * HOUR), sample(2, 0.2)], None),
    ],
    ids=["pace", "ends with it", "resets first", "just before", "flat", "faster", "too early", "used up", "old"],
)
def test_when_a_window_runs_out(samples: list[LimitSample], runs_out: float | None, tmp_path: Path) -> None:
    history = LimitHistory(tmp_path / "limits.jsonl")
    history.add(samples)
    (limit,) = history.limits(samples[-1].at)
    assert limit.used == samples[-1].used
    assert limit.runs_out_at == (None if runs_out is None else pytest.approx(runs_out))


def test_a_restart_loses_no_sample_and_a_reset_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "limits.jsonl"
    assert LimitHistory(path).add([sample(1, 0.1), sample(2, 0.5)])
    with path.open("ab") as file:
        file.write(b'{"broken\n[1]\n')
    again = LimitHistory(path)
    assert again.limits(END - 1)[0].runs_out_at is not None and not again.limits(END)
    assert not again.add([sample(2.1, 0.5)]), "nothing new"
    assert not again.add([sample(1.5, 0.7)]), "older than what is known"
    assert path.stat().st_mode & 0o077 == 0


def test_what_a_status_line_and_a_codex_log_report(tmp_path: Path) -> None:
    line = {"session_id": "s1", "rate_limits": {"five_hour": {"used_percentage": 62, "resets_at": END}}}
    assert list(claude_samples(line, START)) == [LimitSample(START, "claude-code", 300, 0.62, END, "s1")]
    for odd in ({}, {"rate_limits": 3}, {"rate_limits": {"five_hour": {"used_percentage": "x"}}}):
        assert not list(claude_samples(odd, START))
    day = tmp_path / ".codex/sessions/2026/11/18"
    day.mkdir(parents=True)
    limits = {
        "limit_id": "codex",
        "primary": {"used_percent": 42.5, "window_minutes": 300, "resets_at": END},
        "secondary": {"used_percent": 7.0, "window_minutes": 10080, "resets_at": END + HOUR},
    }
    payload = {"type": "token_count", "rate_limits": limits}
    entry = {"timestamp": "2026-11-18T12:00:00Z", "type": "event_msg", "payload": payload}
    text = json.dumps(entry) + "\n" + json.dumps({"payload": {"rate_limits": None}}) + "\n{\n"
    (day / "rollout-x.jsonl").write_text(text)
    assert [(one.minutes, one.used) for one in codex_log_samples({}, tmp_path)] == [(300, 0.425), (10080, 0.07)]
    assert [one.name for one in read_limits(tmp_path, {}, tmp_path).limits(START)] == ["5h", "7d"]


def test_which_session_uses_a_limit() -> None:
    minute = int(START // 60)

    def cost(name: str, agent: str, *charges: tuple[int, float, int]) -> KeptCost:
        rows = [KeptCharge(minute + at, "m", False, dollars, 1, 0, tokens, 0) for at, dollars, tokens in charges]
        return KeptCost(name, agent, "", "", "", True, 0, rows, 0, 0, 0, None)

    limit = PlanLimit("claude-code", 300, 0.5, END, START + HOUR)
    shares = session_shares(
        limit,
        [
            cost("a", "claude-code", (10, 3.0, 100), (-1, 50.0, 9000)),
            cost("b", "claude-code", (20, 1.0, 300)),
            cost("c", "codex", (20, 9.0, 900)),
            cost("d", "claude-code", (-30, 9.0, 900)),
        ],
    )
    assert [(one.session, one.low, one.high) for one in shares] == [("a", 0.125, 0.375), ("b", 0.125, 0.375)]
    assert "runs out" not in limit.words() and limit.words(brief=True) == "5h limit 50%" and not limit.urgent
    assert limit._replace(used=0.9).urgent and not limit._replace(used=0.899).urgent
