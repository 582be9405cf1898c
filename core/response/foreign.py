"""What a watched project's rules may do: add methods that warn, and make known ones more sensitive."""

from __future__ import annotations

from typing import Any, NamedTuple

from core.response.method import Method

MOST = 8
"""Methods one project may add; with more, their notices could push out those of others."""
OWN_WORDS = ("done", "question")
"""What notices of our own are called; a method of that name could use up their rest."""

_FREQUENCIES = ("low", "medium", "high")


class Refusal(NamedTuple):
    """One field of a project's method that is left out, and what it may be."""

    field: str
    """Empty where the whole method is left out."""
    why: str

    def __str__(self) -> str:
        return f"{self.field}: {self.why}" if self.field else self.why


def unwanted(method: Method) -> str:
    """Why a project may not add this method; empty where it may."""
    if method.id in OWN_WORDS:
        return f"{method.id} is a word of our own; a project's method is called something else"
    if method.action.kind == "done":
        return "action.kind is done; a project's method may say risk or needs_you"
    if method.type == "context_persist":
        return "type is context_persist; only your own rules may have checkpoints written"
    if method.action.deliver is not None:
        return "action.deliver: only your own rules may put words to an agent"
    return ""


def narrowed(known: Method, wanted: Method) -> tuple[Method, list[Refusal]]:
    """The known method with what a project may change, and what of its wishes is left out."""
    if wanted != known and (known.action.kind == "done" or known.type == "context_persist"):
        return known, [Refusal("", "left out, only your own rules may change a method that does not warn")]
    old, new = known.trigger, wanted.trigger
    frequent = _FREQUENCIES.index(new.frequency) >= _FREQUENCIES.index(old.frequency)
    easier = old.threshold is not None and new.threshold is not None and new.threshold <= old.threshold
    checks: tuple[tuple[str, bool, str], ...] = (
        ("enabled", wanted.enabled, "a project may only turn it on"),
        ("type", False, "only your own rules may change it"),
        ("mode", False, "only your own rules may change it"),
        ("action", False, "only your own rules may change it"),
        ("trigger.signals", False, "another signal could use up its rest; a project may add a method"),
        ("trigger.states", set(new.states) >= set(old.states), "a project may only add to them"),
        ("trigger.sensitivity", new.sensitivity >= old.sensitivity, "a project may only raise it"),
        ("trigger.frequency", frequent, "a project may only make it more frequent"),
        ("trigger.threshold", easier, "a project may only lower one that is there"),
        ("trigger.despite_flow", new.despite_flow, "a project may only turn it on"),
    )
    kept: dict[str, dict[str, Any]] = {"": {}, "trigger": {}}
    refused: list[Refusal] = []
    for path, allowed, why in checks:
        group, _, name = path.rpartition(".")
        before, after = (old, new) if group else (known, wanted)
        if allowed or getattr(after, name) == getattr(before, name):
            kept[group][name] = getattr(after, name)
        else:
            refused.append(Refusal(path, f"left out, {why}"))
    trigger = old.model_copy(update=kept["trigger"])
    return known.model_copy(update={**kept[""], "trigger": trigger}), refused
