"""The real agents' tests are skipped, with a word, where the agents cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.programs import missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what stands in this folder, and skip what needs the programs."""
    here = Path(__file__).parent
    why = missing()
    for item in items:
        if item.path.parent == here and item.path.name != "test_fake_model.py":
            item.add_marker(pytest.mark.agents)
            if why:
                item.add_marker(pytest.mark.skip(reason=why))
