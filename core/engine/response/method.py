"""One method: what it listens to, and what it then does. All of it is data."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, get_args

from msgspec import convert

from core.engine.percept import AGENT_STATES, SIGNAL_AXES, AgentState, Axis
from core.settings.group import Group, Spec

# What a method may listen to: the receptor's signals, a loop, a governor's halt, pressure on the person, and budget or
# context running out.
Cue = Literal[
    "compound",
    "frustration",
    "seeking",
    "uncertainty",
    "confidence",
    "fatigue",
    "loop",
    "halt",
    "pressure",
    "mortality",
]
CUES: tuple[Cue, ...] = get_args(Cue)

# Flow is not among them: it only silences.
CUE_OF: dict[str, Cue] = {
    "compound_frustration_seeking": "compound",
    "frustration_spike": "frustration",
    "seeking_spike": "seeking",
    "uncertainty_spike": "uncertainty",
    "confidence_sustained": "confidence",
    "fatigue_rising": "fatigue",
}

CUE_AXES: dict[Cue, tuple[Axis, ...]] = {cue: SIGNAL_AXES[name] for name, cue in CUE_OF.items()}

MethodType = Literal[
    "knowledge_search", "path_suggest", "status_notify", "context_persist", "action_log", "future_probe", "loop_alert"
]
Mode = Literal["auto", "notify", "background"]
Frequency = Literal["low", "medium", "high"]
NoticeKind = Literal["needs_you", "risk", "done"]
InterventionKind = Literal["steer", "follow_up", "self_steer"]
Window = Literal["decide", "reflect", "curator", "dream"]
Source = Literal["risk", "mortality", "policy", "attention"]

# What a sentence may name in braces.
PLACES = (
    "cue",
    "state",
    "pattern",
    "intensity",
    "value",
    "pressure",
    "loop",
    "halt",
    "failures",
    "hours",
    "change",
    "means",
)

_BRACES = re.compile(r"\{([^{}]*)\}")


def _cue_values(value: Any) -> Any:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple):
        return value
    if "any" in listed:
        return CUES
    return tuple(CUE_OF.get(one, one) if isinstance(one, str) else one for one in listed)


def _state_values(value: Any) -> Any:
    listed = [value] if isinstance(value, str) else value
    return AGENT_STATES if isinstance(listed, list | tuple) and "any" in listed else listed


def _sentence(text: str) -> str:
    unknown = [name for name in _BRACES.findall(text) if name not in PLACES]
    if unknown:
        raise ValueError(f"{{{unknown[0]}}} is not a known placeholder")
    return text


class MethodTrigger(Group):
    """When a method is a candidate, and how easily it fires."""

    signals: Annotated[tuple[Cue, ...], Spec(min_length=1, before=_cue_values)]
    states: Annotated[tuple[AgentState, ...], Spec(min_length=1, before=_state_values)]
    sensitivity: Annotated[float, Spec("How much of a signal counts.", 0, 1)]
    frequency: Frequency = "low"
    threshold: Annotated[float | None, Spec(ge=0, le=1)] = None  # A threshold of its own, in place of the settings'.
    despite_flow: bool = False  # Speak of loops even while the agent flows: a loop of successes feels like flow.


class Deliver(Group):
    """The intervention a method asks for."""

    kind: InterventionKind = "follow_up"
    window: Window = "decide"
    source: Source = "attention"
    cancel: bool = False
    priority: Annotated[int, Spec("Higher goes first.", 0, 255)] = 100
    deadline: Annotated[float | None, Spec(ge=1, le=86_400)] = None


class Action(Group):
    """A method's message, and its audience."""

    say: Annotated[str, Spec(max_length=300, after=_sentence)] = ""
    # The sentence for the agent, as a fact, if it differs from the one for the person.
    tell: Annotated[str, Spec(max_length=300, after=_sentence)] = ""
    kind: NoticeKind = "risk"
    limit: Annotated[int | None, Spec(ge=1, le=50)] = None
    deliver: Deliver | None = None


class Method(Group):
    """One way to respond."""

    id: Annotated[str, Spec(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    type: MethodType
    mode: Mode
    trigger: MethodTrigger
    action: Action = Action()
    enabled: bool = True


def own_method(entry: dict[str, Any]) -> Method:
    """Build a method of our own table, without the checks for rules from outside."""
    trigger = entry["trigger"]
    lists = {"signals": _cue_values(trigger["signals"]), "states": _state_values(trigger["states"])}
    return convert({**entry, "trigger": {**trigger, **lists}}, Method)


def fill(sentence: str, values: dict[str, str]) -> str:
    """Replace the braces of a sentence with their values."""
    return _BRACES.sub(lambda match: values.get(match[1], ""), sentence).strip()
