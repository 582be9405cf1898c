"""Values that readers share."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from core.agents.values import SeenIds


def test_seen_ids_are_a_set() -> None:
    """Every id is new once, whether it was sorted in already or not."""
    dice = random.Random(1)  # noqa: S311
    ids = SeenIds()
    plain: set[str] = set()
    for _ in range(20_000):
        name = f"msg_{dice.randrange(12_000)}"
        assert (name in ids) == (name in plain)
        assert ids.add(name) == (name not in plain)
        plain.add(name)
    assert not ids.add(min(plain)) and "other" not in ids


@pytest.mark.parametrize(("count", "most"), [(2_000, 100_000), (100_000, 1_000_000)])
def test_many_ids_take_little(count: int, most: int) -> None:
    """A log may grow for days, and a fleet has many."""
    ids = SeenIds()
    tracemalloc.start()
    try:
        for number in range(count):
            ids.add(f"00000000-0000-4000-8000-{number:012d}")
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < most
