"""Figures as Prometheus reads them."""

from __future__ import annotations

import re
from http.client import HTTPConnection
from pathlib import Path

import pytest

from bench.workload import session
from core.errors import UsageError
from core.events import Event, SessionStart, ToolUse
from core.extras.telemetry.station import MetricsPage, MetricsServer
from core.settings import Settings
from core.timeline.initial_state import PLAIN
from tui.cli import main

SETTINGS = Settings()
_LINE = re.compile(r'[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)*\})? -?[0-9.e+-]+')


def told(sessions: dict[str, list[Event]], **choices: bool) -> str:
    metrics = MetricsPage(SETTINGS, **choices)
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


def asked(port: int, path: str = "/metrics", method: str = "GET") -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_a_watch_serves_what_it_has_seen_so_far() -> None:
    server = MetricsServer(SETTINGS, 0, lambda: 2_000_000_000.0, "s")
    society = PLAIN.society(SETTINGS)
    try:
        assert "nooscope_tool_uses_total{" not in asked(server.port)[1]
        for event in session(60):
            server.on_event(event, society.step(event), society)
        status, text = asked(server.port)
        assert status == 200 and text == told({"s": session(60)})
        assert asked(server.port, "/")[0] == 404
        assert asked(server.port, method="POST")[0] == 405
        with pytest.raises(UsageError, match="name another port"):
            MetricsServer(SETTINGS, server.port, lambda: 0.0)
    finally:
        server.close()


def test_the_command_serves_and_ends(home: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(log), "--headless", "--metrics", "0", "--idle", "0"]) == 0
    assert "figures on http://127.0.0.1:" in capsys.readouterr().err
    assert main(["watch", str(log), "--metrics", "0"]) == 2
    assert "add --headless" in capsys.readouterr().err
