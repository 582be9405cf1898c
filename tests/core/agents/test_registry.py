"""The table of agents, and an agent from another package."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.agents.registry import AGENTS, make_kit
from core.events import Prompt, SessionStart, ToolUse
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.format import FormatsLater
from core.logs.session import read_session

READER = """
from core.agents.calls import Result
from core.agents.reader import TranscriptReader
from core.agents.values import text
from core.logs.format import Format


class ZorkReader(TranscriptReader):
    name = "zork"

    def read(self, value):
        self.moment(value.get("t"))
        if not self.begun:
            self.begin("z-1", project="/cave")
        if "say" in value:
            self.add(self.prompt(text(value["say"])))
        if "use" in value:
            self.add(self.whole_call("", value["use"], value, Result("done")))


def _sniff(sample):
    return 95 if sample.records and sample.records[0].get("zork") else 0


FORMATS = (Format("zork", "lines", _sniff, ZorkReader),)
"""
AGENT = """
from pathlib import Path

from core.logs.format import Agent, Location
from zork_agents.zork.reader import FORMATS

AGENT = Agent(
    "zork",
    "Zork",
    FORMATS,
    Location(lambda environment, home: [home / ".zork"], ("*.jsonl",), (b'"t":',)),
    tools=Path(__file__).with_name("tools.toml"),
)
"""
LINES = [
    {"t": 1_700_000_000, "zork": True, "say": "open the mailbox"},
    {"t": 1_700_000_005, "use": "peer", "path": "leaflet.txt"},
]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of agents with one folder in it."""
    folder = tmp_path / "zork_agents" / "zork"
    folder.mkdir(parents=True)
    for path in (folder.parent, folder):
        (path / "__init__.py").write_text("")
    (folder / "reader.py").write_text(READER)
    (folder / "agent.py").write_text(AGENT)
    (folder / "tools.toml").write_text('[tools.zork]\nfile_read = ["peer"]\n')
    monkeypatch.syspath_prepend(tmp_path)
    yield "zork_agents"
    for name in [name for name in sys.modules if name.startswith("zork_agents")]:
        del sys.modules[name]


def test_every_agent_is_in_the_table_once() -> None:
    assert len(AGENTS) >= 11
    assert len({agent.name for agent in AGENTS}) == len(AGENTS)
    assert [agent.general for agent in AGENTS] == sorted(agent.general for agent in AGENTS)
    assert all(known.name == agent.name for agent in AGENTS for known in agent.formats)


def test_a_log_that_its_agent_is_certain_of_wakes_no_other_agent(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"type":"user","parentUuid":null,"isSidechain":false,"sessionId":"s","uuid":"u"}\n')
    code = (
        "import sys; from pathlib import Path\n"
        "from core.agents.registry import make_kit\n"
        "from core.logs.finder import Finder\n"
        "print(Finder(make_kit()).format(Path(sys.argv[1]))[0].name)\n"
        "from core.agents.registry import AGENTS\n"
        "files = {module for agent in AGENTS for module in agent.formats._modules}\n"
        "print(*sorted(files & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(log)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["claude-code", "core.agents.claude_code.reader"]


def test_formats_that_come_later_are_a_sequence() -> None:
    later = FormatsLater("core.agents.kimi", "core.agents.pi")
    assert [known.name for known in later] == ["kimi", "kimi", "pi"]
    assert later[0] is next(iter(later)) and list(later[:1]) == [later[0]]


def test_another_package_adds_an_agent(package: str, tmp_path: Path) -> None:
    zork = (importlib.import_module(f"{package}.zork.agent").AGENT,)
    log = tmp_path / "home" / ".zork" / "cave.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    kit = make_kit(more=zork)
    [session] = sessions([log], kit)
    start, prompt, use = read_session(session, kit)
    assert isinstance(start, SessionStart) and (start.tool, start.project) == ("zork", "/cave")
    assert isinstance(prompt, Prompt) and prompt.characters == len("open the mailbox")
    assert isinstance(use, ToolUse) and (use.action, use.targets) == ("file_read", ("leaflet.txt",))
    assert not kit.diagnostics.total
    [found] = find(kit.agents, {}, tmp_path / "home")
    assert (found.agent, found.path) == ("zork", log)
