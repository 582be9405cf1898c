"""Where a person's and a project's settings file is, and what watched sessions were given."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT_SETTINGS = ".nooscope.toml"


def user_settings_file() -> Path:
    """The person's own settings file; NOOSCOPE_CONFIG names another."""
    named = os.environ.get("NOOSCOPE_CONFIG")
    if named:
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("nooscope", appauthor=False) / "settings.toml"


def carry_over_folder() -> Path:
    """Where the platform keeps an application's data."""
    from platformdirs import user_data_path

    return user_data_path("nooscope", appauthor=False) / "carry-over"
