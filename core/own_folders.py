"""Where the platform keeps what belongs to nooscope, told at once where that is plain."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

_PLACES = {
    "cache": ("XDG_CACHE_HOME", "~/.cache"),
    "config": ("XDG_CONFIG_HOME", "~/.config"),
    "data": ("XDG_DATA_HOME", "~/.local/share"),
}


def own_folder(kind: Literal["cache", "config", "data"]) -> Path:
    """The folder for what can be made again, for what a person sets, or for what is kept."""
    variable, usual = _PLACES[kind]
    named = os.environ.get(variable, "")
    place = named if named.strip() else os.path.expanduser(usual)  # noqa: PTH111 it leaves an unknown home
    if sys.platform == "linux" and place.startswith("/") and "ANDROID_ROOT" not in os.environ:
        return Path(place, "nooscope")
    import platformdirs

    path: Path = getattr(platformdirs, f"user_{kind}_path")("nooscope", appauthor=False)
    return path
