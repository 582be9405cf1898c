"""The real agents' tests are skipped, with a word, where an agent cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.programs import Agent, Claude, missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what stands in this folder, and skip what needs a program that is not there."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and item.path.name != "test_fake_model.py":
            item.add_marker(pytest.mark.agents)
            why = missing(_kind(item).program)
            if why:
                item.add_marker(pytest.mark.skip(reason=why))


def _kind(item: pytest.Item) -> type[Agent]:
    """The agent a test is about."""
    call = getattr(item, "callspec", None)
    kind = call.params.get("kind", Claude) if call is not None else Claude
    assert isinstance(kind, type)
    return kind
