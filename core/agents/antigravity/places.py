"""What the path of a transcript tells."""

from __future__ import annotations

from pathlib import Path


def conversation(path: Path) -> str:
    """The conversation a transcript belongs to: the folder that holds what the system wrote."""
    for place in path.parents:
        if place.name == ".system_generated":
            return place.parent.name
    return ""
