"""Patches as agents write them: which files they touch, what they take away and what they put there."""

from __future__ import annotations

import re
from typing import NamedTuple

_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$|^\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE)
_REMOVED = re.compile(r"^-(?!-- )(.*)$", re.MULTILINE)
_ADDED = re.compile(r"^\+(?!\+\+ )(.*)$", re.MULTILINE)


class Patch(NamedTuple):
    """What a patch says."""

    targets: tuple[str, ...]
    before: str
    after: str


def read_patch(text: str) -> Patch:
    """Read a patch in either of the two usual notations."""
    targets = dict.fromkeys(found.group(1) or found.group(2).strip() for found in _FILE.finditer(text))
    targets.pop("/dev/null", None)
    return Patch(tuple(targets), "\n".join(_REMOVED.findall(text)), "\n".join(_ADDED.findall(text)))
