"""A person's own conditions that wake the mind, as rules in the rule file."""

from __future__ import annotations

from typing import Any, get_args

from core.engine.mind.clock import Resolution
from core.engine.mind.stimulus import Cause
from core.engine.mind.wakeup import CAUSES, Trigger
from core.errors import PolicyError
from core.settings.closed import Closed
from core.settings.declared import Invalid, limited

MOST = 64
"""Wakeups one file may name."""
_ALLOWED = {
    "id": "1 to 40 of a-z, 0-9, - and _, and none of the built-in triggers",
    "causes": f"a list of {', '.join(get_args(Cause))}",
    "like": "words in which * stands for any others, up to 80 characters",
    "resolution": "gamma or theta",
    "least": "a number from 0 to 1000000",
    "refire": "seconds from 0 to 86400",
}


class WakeupRule(Closed):
    """Wake the mind when something of these causes is large enough, and is described like this."""

    id: str = limited(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")
    causes: tuple[Cause, ...] = limited(min_length=1)
    like: str = limited("*", max_length=80)
    resolution: Resolution = "theta"
    least: float = limited(1.0, ge=0, le=1_000_000)
    refire: float = limited(5.0, ge=0, le=86_400)

    @property
    def trigger(self) -> Trigger:
        """The same as the mind knows it."""
        return Trigger(self.id, self.causes, self.resolution, self.least, self.refire, self.like)


def read_wakeups(entries: Any, source: str) -> dict[str, WakeupRule]:
    """Every wakeup a file names; PolicyError with every fault and what is allowed."""
    if not isinstance(entries, list):
        raise PolicyError(f"{source}: wakeups: must be a list of tables")
    if len(entries) > MOST:
        raise PolicyError(f"{source}: wakeups: {len(entries)} of them; there may be {MOST}")
    found: dict[str, WakeupRule] = {}
    faults: list[str] = []
    for place, entry in enumerate(entries):
        name = entry.get("id") if isinstance(entry, dict) else None
        label = f"{source}: wakeups[{place}]" + (f" ({name})" if isinstance(name, str) else "")
        try:
            rule = WakeupRule.model_validate(entry)
        except Invalid as error:
            faults += [f"{label}: {_fault(each)}" for each in error.errors()]
            continue
        if rule.id in found or rule.id in CAUSES:
            faults.append(f"{label}: the id is taken; it may be {_ALLOWED['id']}")
        found[rule.id] = rule
    if faults:
        raise PolicyError("\n".join(dict.fromkeys(faults)))
    return found


def _fault(error: Any) -> str:
    name = next((str(word) for word in error["loc"] if isinstance(word, str)), "")
    if not name:
        return "must be a table with an id and causes"
    if error["type"] == "extra_forbidden":
        return f"{name} is unknown; it may be {', '.join(_ALLOWED)}"
    verb = "is missing; it must be" if error["type"] == "missing" else "is not right; it may be"
    return f"{name} {verb} {_ALLOWED.get(name, 'something else')}"
