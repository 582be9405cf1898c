"""The six fields an agent carries beside its affect, each in a few words."""

from __future__ import annotations

from typing import Literal, NamedTuple

from core.engine.affect import describe_entry
from core.engine.engine import Frame
from core.engine.mind.fabric import ThinkingStarted
from core.report.episode_words import task_words
from core.report.formatting import count, short

FieldTitle = Literal["intent", "context", "memory", "policy", "mutation", "lineage"]


class AgentField(NamedTuple):
    """One of the six."""

    name: FieldTitle
    words: str


def agent_fields(frame: Frame) -> tuple[AgentField, ...]:
    """Purpose, situation, history, constraints, last change and provenance of an agent at a moment."""
    mind, affect, governor = frame.mind, frame.affect, frame.governor
    asked = next((one for one in reversed(mind.events) if isinstance(one, ThinkingStarted)), None)
    task = ", ".join(task_words(name) for name, _ in mind.episodes.task[:3])
    intent = frame.receptor.behaviour.short.pattern.replace("_", " ") + (f": {task}" if task else "")
    if asked is not None:
        intent += f", asked {_ago(frame.at - asked.at)} ago"
    episodes = mind.episodes
    remembered = f", {episodes.remembered} from before" if episodes.remembered else ""
    last = describe_entry(affect.lineage[-1]) if affect.lineage else None
    moved = "none yet"
    if last is not None:
        most = max(last.changes, key=lambda one: abs(one.after - one.before), default=None)
        moved = last.act if most is None else f"{last.act}: {most.field} {most.after - most.before:+.2f}"
    return (
        AgentField("intent", intent),
        AgentField("context", f"{mind.sleep.context:.0%} full, {short(mind.sleep.context_tokens)} tokens"),
        AgentField(
            "memory", f"{count(episodes.kept, 'episode')}{remembered}, {frame.receptor.heatmap.leaves} paths"
        ),
        AgentField("policy", f"{affect.policy}, governor {governor.profile_name}"),
        AgentField("mutation", moved.replace("_", " ")),
        AgentField(
            "lineage", f"{count(affect.changes, 'change')}, the newest with fingerprint {affect.head[:10]}"
        ),
    )


def _ago(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{max(0.0, seconds):.0f} s"
