"""What is exported as ATIF fits the format's closed schema, and reads back as the same session."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.agents.registry import make_kit
from core.events import AgentEnd, AgentStart, Compaction, Event, Prompt, SessionStart, ToolUse, Turn
from core.export.exporters import atif
from core.export.film import Privacy, film
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings

_SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
_SAMPLES = Path(__file__).resolve().parents[3] / "sample_sessions"


class _Closed(BaseModel):
    """Every object of the format is closed but for `extra`."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    extra: dict[str, Any] | None = None


class _Ref(_Closed):
    trajectory_id: str | None = None
    trajectory_path: str | None = None
    session_id: str | None = None


class _Call(_Closed):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]


class _Part(_Closed):
    type: Literal["text", "image", "audio"]
    text: str | None = None
    source: dict[str, Any] | None = None


class _Result(_Closed):
    source_call_id: str | None = None
    content: str | list[_Part] | None = None
    subagent_trajectory_ref: list[_Ref] | None = None


class _Observation(BaseModel):
    model_config = ConfigDict(extra="forbid")
    results: list[_Result]


class _Metrics(_Closed):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: list[int] | None = None
    completion_token_ids: list[int] | None = None
    logprobs: list[float] | None = None


class _Step(_Closed):
    step_id: int = Field(ge=1)
    source: Literal["system", "user", "agent"]
    message: str | list[_Part]
    timestamp: str | None = None
    model_name: str | None = None
    reasoning_effort: str | float | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    observation: _Observation | None = None
    metrics: _Metrics | None = None
    llm_call_count: int | None = Field(default=None, ge=0)
    is_copied_context: bool | None = None

    @model_validator(mode="after")
    def _fits(self) -> _Step:
        if self.source != "agent":
            assert not (self.model_name or self.reasoning_content or self.tool_calls or self.metrics)
        if self.llm_call_count == 0:
            assert not (self.metrics or self.reasoning_content)
        names = {call.tool_call_id for call in self.tool_calls or ()}
        for result in self.observation.results if self.observation else ():
            assert result.source_call_id is None or result.source_call_id in names
        if self.timestamp is not None:
            datetime.fromisoformat(self.timestamp.replace("Z", "+00:00"))
        return self


class _Agent(_Closed):
    name: str
    version: str
    model_name: str | None = None
    tool_definitions: list[dict[str, Any]] | None = None


class _Totals(_Closed):
    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int | None = Field(default=None, ge=0)


class Trajectory(_Closed):
    """A document of the format, by the rules of its versions 1.4 to 1.8."""

    schema_version: str = Field(pattern=r"^ATIF-v1\.[0-8]$")
    agent: _Agent
    steps: list[_Step] = Field(min_length=1)
    session_id: str | None = None
    trajectory_id: str | None = None
    notes: str | None = None
    final_metrics: _Totals | None = None
    continued_trajectory_ref: str | None = None
    subagent_trajectories: list[Trajectory] | None = None

    @model_validator(mode="after")
    def _joined(self) -> Trajectory:
        assert [step.step_id for step in self.steps] == list(range(1, len(self.steps) + 1))
        inner = [one.trajectory_id for one in self.subagent_trajectories or ()]
        assert all(inner)
        assert len(set(inner)) == len(inner)
        for step in self.steps:
            for result in step.observation.results if step.observation else ():
                for ref in result.subagent_trajectory_ref or ():
                    old = self.schema_version < "ATIF-v1.7" and ref.session_id
                    assert old or ref.trajectory_path or ref.trajectory_id in inner
        return self


def _events(path: Path) -> list[Event]:
    kit = make_kit()
    return list(read_session(sessions([path], kit)[0], kit))


def _written(path: Path, level: Any = "excerpts") -> bytes:
    kit = make_kit()
    session = sessions([path], kit)[0]
    return atif(film(session, list(read_session(session, kit)), Settings(), Privacy(level)))


def _logs() -> list[Path]:
    real = _SHARED / "real_sessions"
    names = ("claude-code", "codex", "opencode", "copilot-cli", "pi", "gemini", "openhands")
    found = [sorted(path for path in (real / name).rglob("*") if path.is_file())[:3] for name in names]
    found.append(sorted((real / "claude-code").glob("*sidechain*.jsonl")))
    ours = sorted(_SAMPLES.rglob("*.jsonl"))[:4]
    return [*ours, *(path for paths in found for path in paths if "subagents" not in path.parts)]


@pytest.mark.parametrize("path", _logs(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_export_fits_the_schema_and_reads_back(path: Path, tmp_path: Path) -> None:
    """Calls, outcomes, exit codes, tokens, costs, sub-agents, prompts, compactions and times are kept."""
    before = _events(path)
    target = tmp_path / "trajectory.json"
    target.write_bytes(_written(path))
    Trajectory.model_validate_json(target.read_bytes())
    after = _events(target)
    assert _calls(after) == _calls(before)
    assert _tokens(after) == _tokens(before)
    assert _times(after, SessionStart)[:1] == _times(before, SessionStart)[:1]
    assert _times(after, Prompt) == _times(before, Prompt)
    assert _times(after, Compaction) == _times(before, Compaction)
    assert _children(after, AgentStart) == _children(before, AgentStart)
    assert _children(after, AgentEnd) == _children(before, AgentEnd)


def _calls(events: list[Event]) -> list[Any]:
    uses = [event for event in events if isinstance(event, ToolUse)]
    return sorted(
        (
            *(round(use.at, 3), use.agent, use.tool, use.action, use.outcome),
            *(use.exit_code or 0, round(use.duration or 0.0, 3)),
        )
        for use in uses
    )


def _tokens(events: list[Event]) -> list[Any]:
    turns = [event for event in events if isinstance(event, Turn)]
    told = [
        (
            *(round(one.at, 3), one.agent, one.input_tokens, one.cache_read, one.cache_write, one.output_tokens),
            -1.0 if one.cost is None else round(one.cost, 6),
        )
        for one in turns
    ]
    return sorted(one for one in told if any(one[2:6]))


def _times(events: list[Event], kind: type[Event]) -> list[float]:
    return sorted(round(event.at, 3) for event in events if isinstance(event, kind))


def _children(events: list[Event], kind: Any) -> list[Any]:
    return sorted({(event.child, round(event.at, 3)) for event in events if isinstance(event, kind)})


@pytest.mark.parametrize(
    "path", sorted((_SHARED / "more_sessions" / "atif").glob("*.json")), ids=lambda path: path.name
)
def test_the_schema_takes_what_others_wrote(path: Path) -> None:
    """The closed schema above is the format's own: files of other producers fit it."""
    document = json.loads(path.read_text("utf-8"))
    for part in [document] if "steps" in document else document.values():
        Trajectory.model_validate(part)


def test_a_strict_export_holds_no_words_and_no_names() -> None:
    path = _logs()[0]
    kit = make_kit()
    project = next(iter(read_session(sessions([path], kit)[0], kit))).project  # type: ignore[union-attr]
    written = _written(path, "strict").decode()
    Trajectory.model_validate_json(written)
    assert not project or project not in written
    messages = {step["message"] for step in json.loads(written)["steps"]}
    assert messages <= {"", "Context compacted.", "Session ended.", "Advice from nooscope."}
