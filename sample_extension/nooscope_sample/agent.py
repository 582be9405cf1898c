"""An agent: a reader for the logs of a made-up one, which writes a JSON object a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.agents.calls import Result
from core.agents.reader import TranscriptReader
from core.agents.values import text
from core.logs.format import Agent, Environment, Format, Location, Sample


class PlainReader(TranscriptReader):
    """Lines of `{"plain": 1, "t": 0, "say": words}` or `{"plain": 1, "t": 1, "run": words, "ok": true}`."""

    name = "plain-agent"

    def read(self, value: Any) -> None:
        """Add the events of one line; what is wrong in it is counted, never raised."""
        line = self.table(value, "line")
        self.moment(line.get("t"))
        if not self.begun:
            self.begin(line.get("session"), project=line.get("project"))
        if "say" in line:
            self.add(self.prompt(text(line.get("say"))))
        if "run" in line:
            result = Result(text(line.get("output")), error=line.get("ok") is False)
            self.add(self.whole_call("", "run", {"command": text(line.get("run"))}, result))


def _sniff(sample: Sample) -> int:
    return 95 if sample.records and sample.records[0].get("plain") == 1 else 0


def _roots(_environment: Environment, home: Path) -> list[Path]:
    return [home / ".plain-agent"]


AGENT = Agent(
    "plain-agent",
    "Plain agent",
    (Format("plain-agent", "lines", _sniff, PlainReader),),
    Location(_roots, ("*.jsonl",), (b'"t":',)),
    tools=Path(__file__).with_name("tools.toml"),
)
