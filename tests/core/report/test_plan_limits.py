"""Windows of a plan: what is kept over a restart, when one runs out, and which session uses it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.report.plan_limits import (
    ELSEWHERE,
    LimitHistory,
    LimitSample,
    LimitShare,
    PlanLimit,
    claude_samples,
    codex_log_samples,
    limit_shares,
    read_limits,
)
from core.report.sums import KeptCharge

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


def charged(*charges: tuple[int, float, int]) -> list[KeptCharge]:
    """What a session was charged: minutes since the start, dollars and tokens."""
    minute = int(START // 60)
    return [KeptCharge(minute + at, "m", False, dollars, 1, 0, tokens, 0) for at, dollars, tokens in charges]


def limit(*samples: tuple[float, float]) -> PlanLimit:
    """A 5-hour window by its samples: hours since its start, and the share used."""
    at, used = samples[-1]
    spread = tuple((START + hours * HOUR, share) for hours, share in samples)
    return PlanLimit("claude-code", 300, used, END, START + at * HOUR, None, spread)


def rounded(shares: Mapping[str, LimitShare]) -> dict[str, tuple[float, float]]:
    return {name: (round(one.low, 4), round(one.high, 4)) for name, one in shares.items()}


def test_a_limit_is_divided_by_cost_and_by_tokens() -> None:
    charges = {
        "a": charged((10, 3.0, 100), (-1, 50.0, 9000)),
        "b": charged((20, 1.0, 300)),
        "c": charged((-30, 9.0, 9)),
    }
    half = 0.005 * 0.75
    expected = {"a": (0.125 - half, 0.375 + half), "b": (0.125 - half, 0.375 + half)}
    assert rounded(limit_shares(limit((1, 0.5)), charges)) == {
        name: (round(low, 4), round(high, 4)) for name, (low, high) in expected.items()
    }
    one = limit((1, 0.5))
    assert "runs out" not in one.words() and one.words(brief=True) == "5h limit 50%" and not one.urgent
    assert one._replace(used=0.9).urgent and not one._replace(used=0.899).urgent


def test_each_rise_goes_to_those_who_worked_then() -> None:
    charges = {"a": charged((30, 1.0, 10)), "b": charged((90, 1.0, 10))}
    assert rounded(limit_shares(limit((1, 0.1), (2, 0.4)), charges)) == {"b": (0.29, 0.31), "a": (0.095, 0.105)}
    tenths = rounded(limit_shares(limit((1, 0.105), (2, 0.4)), charges))
    assert tenths == {"b": (0.294, 0.296), "a": (0.1045, 0.1055)}, "samples in tenths of a percent are rounded less"


def test_what_rises_while_nobody_works_here_was_used_elsewhere() -> None:
    """And may have gone on at that pace while a session worked."""
    charges = {"a": charged((90, 1.0, 10))}
    shares = rounded(limit_shares(limit((1, 0.1), (2, 0.4)), charges))
    assert shares == {"a": (0.19, 0.31), ELSEWHERE: (0.095, 0.205)}
    assert rounded(limit_shares(limit((2, 0.2)), {"a": []})) == {ELSEWHERE: (0.195, 0.205)}


@pytest.mark.parametrize(("minute", "stretch"), [(59, "first"), (60, "first"), (61, "second")])
def test_a_charge_counts_for_the_next_sample(minute: int, stretch: str) -> None:
    shares = limit_shares(limit((1, 0.1), (2, 0.4)), {"a": charged((minute, 1.0, 10))})
    assert shares["a"].high == pytest.approx({"first": 0.105, "second": 0.31}[stretch])


def test_the_samples_of_a_window_are_spread_over_it(tmp_path: Path) -> None:
    history = LimitHistory(tmp_path / "limits.jsonl")
    history.add(sample(number / 100, number / 1000) for number in range(200))
    (one,) = history.limits(START + 2 * HOUR)
    assert one.samples[-1] == (START + 1.99 * HOUR, 0.199) and len(one.samples) == 12
