"""Figures as Prometheus reads them."""

from __future__ import annotations

import re

from bench.workload import session
from core.events import Event, SessionStart, ToolUse
from core.settings import Settings
from core.telemetry.metrics import Metrics
from core.timeline.initial_state import PLAIN

SETTINGS = Settings()
_LINE = re.compile(r'[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)*\})? -?[0-9.e+-]+')


def told(sessions: dict[str, list[Event]], **choices: bool) -> str:
    metrics = Metrics(SETTINGS, **choices)
    for name, events in sessions.items():
        society = PLAIN.society(SETTINGS)
        for event in events:
            metrics.update(name, "", event, society.step(event), society)
    return metrics.text(2_000_000_000.0)


def samples(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_names_types_and_form() -> None:
    text = told({"s": session(300)})
    kinds = dict(re.findall(r"# TYPE (\S+) (\S+)", text))
    assert kinds == {
        "nooscope_axis": "gauge",
        "nooscope_state_info": "gauge",
        "nooscope_context_ratio": "gauge",
        "nooscope_sleep_pressure_ratio": "gauge",
        "nooscope_sessions": "gauge",
        "nooscope_signals_total": "counter",
        "nooscope_tool_uses_total": "counter",
        "nooscope_tokens_total": "counter",
        "nooscope_cost_usd_total": "counter",
    }
    for line in text.splitlines():
        assert line.startswith("#") or _LINE.fullmatch(line), line
    assert "session=" not in text


def test_calls_are_counted_over_all_sessions() -> None:
    events = session(300)
    uses = sum(isinstance(event, ToolUse) for event in events)
    found = samples(told({"a": events, "b": events}))
    assert sum(n for name, n in found.items() if name.startswith("nooscope_tool_uses_total")) == 2 * uses
    assert sum(n for name, n in found.items() if name.startswith("nooscope_sessions")) == 2
    axes = [n for name, n in found.items() if name.startswith("nooscope_axis")]
    assert len(axes) == 6 and all(0 <= n <= 1 for n in axes)


def test_labels_are_bounded_whatever_sessions_say() -> None:
    sessions: dict[str, list[Event]] = {
        f's-{n}"\n\\': [SessionStart(at=1.0, session=f"s-{n}", tool=f'agent-{n}"\n')] for n in range(250)
    }
    plain, named = told(sessions), told(sessions, by_session=True)
    assert len(set(re.findall(r'agent="((?:\\.|[^"\\])*)"', plain))) == 17
    assert 'agent="other"' in plain
    assert len(set(re.findall(r'session="((?:\\.|[^"\\])*)"', named))) == 200
    for line in named.splitlines():
        assert line.startswith("#") or _LINE.fullmatch(line), line
