"""How far a watched project may move a setting: not at all, only towards more alarms, or freely."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Owner = Literal["person", "project"]
"""Whose word a file, a variable or an option is."""
TrustClass = Literal["person only", "project may narrow", "project may set"]


class Trust(NamedTuple):
    """What a project may do with one setting."""

    way: Literal["never", "freely", "lower", "higher", "on", "fewer"]
    limit: float = 0.0
    """As far as a project may lower or raise it."""

    @property
    def name(self) -> TrustClass:
        """The class of the setting, in words."""
        if self.way == "never":
            return "person only"
        return "project may set" if self.way == "freely" else "project may narrow"

    def allows(self, value: Any, standing: Any) -> bool:
        """Whether a project may put this value over the one that stands; the same value always may be."""
        if self.way == "freely" or value == standing:
            return True
        if self.way == "lower":
            return bool(self.limit <= value <= standing)
        if self.way == "higher":
            return bool(standing <= value <= self.limit)
        if self.way == "on":
            return value is True
        return self.way == "fewer" and set(value) <= set(standing)

    def said(self) -> str:
        """What a project may do, as the end of `a project ...`."""
        return {
            "never": "may not set it",
            "freely": "may set it",
            "lower": f"may only lower it, down to {self.limit:g}",
            "higher": f"may only raise it, up to {self.limit:g}",
            "on": "may only turn it on",
            "fewer": "may only leave some out",
        }[self.way]


PERSON = Trust("never")
"""It runs, sends, writes, reads a path, costs memory, or could silence what the person must know."""
PROJECT = Trust("freely")
"""Nothing depends on it but how things look or what advice says."""
ON = Trust("on")
FEWER = Trust("fewer")


def lower(limit: float) -> Trust:
    """A project may only lower it, so far."""
    return Trust("lower", limit)


def higher(limit: float) -> Trust:
    """A project may only raise it, so far."""
    return Trust("higher", limit)
