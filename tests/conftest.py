"""What every test shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

for name in list(os.environ):
    ours = name.startswith(("TEXTUAL", "NOOSCOPE")) and not name.startswith("TEXTUAL_SNAPSHOT")
    if ours or name in {"NO_COLOR", "COLUMNS", "LINES"}:
        del os.environ[name]

settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real logs that live beside the project, where they exist."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no real logs beside the project")
    return folder
