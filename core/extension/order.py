"""In which order extensions run, and which do not fit together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from core.extension.hooks import LAYERS, Extension
from core.safe_text import safe

E = TypeVar("E", bound=Extension)


def ordered(extensions: Iterable[E]) -> tuple[list[E], list[str]]:
    """Those that fit together, each after all it depends on, lower layers first; and why others do not."""
    complaints: list[str] = []
    known: dict[str, E] = {}
    for one in extensions:
        wrong = _wrong(one, known)
        if wrong:
            complaints.append(f"extension {safe(one.name) or type(one).__name__} is left out: {wrong}")
        else:
            known[one.name] = one
    while lost := _unmet(known):
        for name, why in lost.items():
            complaints.append(f"extension {name} is left out: {why}")
            del known[name]
    placed: list[E] = []
    there: set[str] = set()
    waiting = sorted(known.values(), key=lambda one: (one.layer, one.name))
    while waiting:
        ready = [one for one in waiting if there.issuperset(one.depends_on)]
        if not ready:
            names = ", ".join(one.name for one in waiting)
            complaints.append(f"extensions {names} are left out: they depend on each other in a circle")
            break
        placed.append(ready[0])
        there.add(ready[0].name)
        waiting.remove(ready[0])
    return placed, complaints


def _wrong(one: Extension, known: dict[str, E]) -> str:
    if not one.name or not one.name.replace("-", "").replace(".", "").isalnum():
        return "its name is not made of letters, digits, dots and dashes"
    if one.name in known:
        return "another one has its name"
    if one.layer not in range(LAYERS):
        return f"its layer is {one.layer}, it may be 0 to {LAYERS - 1}"
    return ""


def _unmet(known: dict[str, E]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, one in known.items():
        for needed in one.depends_on:
            below = known.get(needed)
            if below is None:
                found[name] = f"it depends on {safe(needed)}, which is not there"
            elif below.layer > one.layer:
                found[name] = f"it is in layer {one.layer} and depends on {needed} in layer {below.layer}"
    return found
