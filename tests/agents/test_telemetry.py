"""Real agents send their telemetry to `nooscope listen --otlp`; what arrives is what their logs tell."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.agents.registry import AGENTS, make_kit
from core.events import Prompt, ToolUse, Turn
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.session import read_session
from tests.agents.fake_model import FakeModel, say
from tests.agents.programs import LONGEST, Agent, Claude, Codex, missing
from tests.agents.test_real_agents import read_back, run

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.agents


@contextmanager
def listening(share: Path) -> Iterator[str]:
    """Take telemetry in until the block ends; the address."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "listen", "--otlp", "--no-hooks", "--port", "0"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(share), "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(share)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stderr is not None
    try:
        said = program.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert address is not None, said + program.stderr.read()
        yield address[0]
    finally:
        program.send_signal(signal.SIGTERM)
        program.wait(LONGEST)
        program.stderr.close()


def sending(agent: Agent, url: str) -> None:
    """Switch an agent's own telemetry on."""
    if isinstance(agent, Codex):
        agent.settings = (
            '[otel]\nlog_user_prompt = false\ntrace_exporter = "none"\nmetrics_exporter = "none"\n'
            f'exporter = {{ otlp-http = {{ endpoint = "{url}/v1/logs", protocol = "json" }} }}\n'
        )
        return
    own = agent.environment()
    told = {
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_LOGS_EXPORT_INTERVAL": "500",
        "OTEL_LOG_TOOL_DETAILS": "1",
    }
    agent.environment = lambda: {**own, **told}  # type: ignore[method-assign]


@pytest.mark.parametrize("kind", [Claude, Codex])
def test_what_arrives_is_what_the_log_tells(kind: type[Agent], tmp_path: Path) -> None:
    if reason := missing(kind.program):
        pytest.skip(reason)
    share = tmp_path / "share"
    share.mkdir()
    story = [run(kind, "python3 missing.py"), run(kind, "ls /"), say("done")]
    with FakeModel({"make it work": story}) as model, listening(share) as url:
        agent = kind(tmp_path, model.url)
        sending(agent, url)
        agent.run("make it work")
    logged = [one for one in read_back(agent) if not (isinstance(one, Turn) and one.only_ends)]
    kit = make_kit()
    (session,) = sessions([share / "nooscope" / "received"], kit)
    received = list(read_session(session, kit))
    (own,) = sessions(agent.logs(), kit)
    assert session.id == own.id
    for event in (Prompt, ToolUse, Turn):
        assert sum(isinstance(one, event) for one in received) == sum(isinstance(one, event) for one in logged)
    calls = [[one for one in events if isinstance(one, ToolUse)] for events in (received, logged)]
    assert [one.outcome for one in calls[0]] == [one.outcome for one in calls[1]]
    assert [one.action for one in calls[0]] == [one.action for one in calls[1]]
    environment = {"XDG_DATA_HOME": str(share)}
    listed = find(AGENTS, environment, agent.home)
    assert [one.agent for one in listed] == [own.tool]
