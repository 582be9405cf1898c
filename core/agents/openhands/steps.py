"""What a step of an OpenHands list holds: an action with the agent's words, or what came of one."""

from __future__ import annotations

import re
from typing import Any

from core.agents.calls import Result
from core.agents.loose import code, items, table, text, words

_SILENT_FAILURE = re.compile(
    r"\[?Your proposed edit has introduced new syntax error|\[No exact match found|ERROR:|\[?Error:"
    r"|-+\n\w+(?:Error|Exception)\s+Traceback|Traceback \(most recent call last\)"
)
"""How results that carry no exit code tell that they failed."""


def flat_steps(history: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events with their places; old evaluations hold them in pairs."""
    flat: list[tuple[str, dict[str, Any]]] = []
    for place, step in enumerate(history):
        if isinstance(step, dict):
            flat.append((str(place), step))
        elif isinstance(step, list):
            flat += [(f"{place}/{part}", item) for part, item in enumerate(step) if isinstance(item, dict)]
    return flat


def step_words(step: dict[str, Any], arguments: dict[str, Any], response: dict[str, Any]) -> str:
    """What the model said with an action, or by it, from its response or else from the action."""
    answers = [table(table(choice).get("message")) for choice in items(response.get("choices"))]
    spoken = "\n".join(words(answer.get("content")) for answer in answers).strip()
    action, source = step["action"], step.get("source")
    if spoken or action == "think":
        return spoken
    if action == "message":
        return words(arguments.get("content")).strip() if source == "agent" else ""
    if source not in (None, "agent"):
        return ""
    return (text(arguments.get("final_thought")) or text(arguments.get("thought"))).strip()


def step_name(value: Any, otherwise: str) -> str:
    """The id of a step, or another name where it has none."""
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else otherwise


def observed_result(step: dict[str, Any], observation: str) -> Result:
    """How an action ended."""
    extras = table(step.get("extras"))
    exited = code(table(extras.get("metadata")).get("exit_code"))
    for found in (extras.get("exit_code"), step.get("exit_code")):
        exited = code(found) if exited is None else exited
    told = words(step.get("content"))
    silent = exited is None and bool(_SILENT_FAILURE.match(told[:500].lstrip()))
    running = exited == -1
    return Result(
        text=told,
        error=observation == "error" or silent or extras.get("error") is True,
        exit_code=None if running else exited,
        rejected=observation == "user_rejected",
        running=running,
    )
