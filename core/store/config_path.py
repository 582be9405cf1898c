"""Where a person's and a project's settings file is, and what watched sessions were given."""

from __future__ import annotations

import os
from pathlib import Path

from core.folders import own_folder

PROJECT_SETTINGS = ".nooscope.toml"


def user_settings_file() -> Path:
    """The person's own settings file; NOOSCOPE_CONFIG names another."""
    named = os.environ.get("NOOSCOPE_CONFIG")
    if named:
        return Path(named)
    return own_folder("config") / "settings.toml"


def carry_over_folder() -> Path:
    """Where the platform keeps an application's data."""
    return own_folder("data") / "carry-over"
