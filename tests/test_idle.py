"""Nothing in core is idle: every public name and every setting has a reader in the product."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from core.settings.layers import tunables

vulture = pytest.importorskip("vulture")

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("core", "tui", "themes", "sample_sessions")
KINDS = frozenset(("function", "method", "class", "property", "import", "unreachable_code"))
MADE_BY_DECORATORS = ["@model_validator", "@field_validator"]

UNREACHED = {
    "people_at",  # everyone at a place, for the stand-in screens of bench and tests
}
"""What nothing in the product reaches, each with what it is for."""

READ_AS_A_WHOLE = ("mind.salience.relevance.", "governor.weights.")
"""Groups whose settings are looked up by names put together from parts."""


@cache
def source() -> str:
    """All of the product but where settings are declared."""
    found = [path for room in PRODUCT for path in sorted((ROOT / room).rglob("*.py"))]
    return "\n".join(path.read_text("utf-8") for path in found if path.parent.name != "settings")


def idle(paths: list[str]) -> set[str]:
    """Names of core that no code of the product uses, whether called by name or named in a string."""
    finder = vulture.Vulture(ignore_decorators=MADE_BY_DECORATORS)
    finder.scavenge(paths)
    quoted = set(re.findall(r"[\"\'](\w+)[\"\']", source())) | set(re.findall(r"cast\(\"(\w+)\[", source()))
    return {
        item.name
        for item in finder.get_unused_code()
        if item.typ in KINDS
        and item.name != "__getattr__"
        and "core" in Path(item.filename).parts
        and item.name not in quoted
    }


def test_every_public_name_of_core_is_reached() -> None:
    paths = [str(ROOT / room) for room in PRODUCT]
    assert sorted(idle(paths) - UNREACHED) == []


def test_an_idle_name_would_be_found(tmp_path: Path) -> None:
    room = tmp_path / "core"
    room.mkdir()
    (room / "one.py").write_text("def nobody_calls_this():\n    return 1\n")
    assert idle([str(room)]) == {"nobody_calls_this"}


def test_every_setting_is_read() -> None:
    words = set(re.findall(r"\.(\w+)\b", source())) | set(re.findall(r"[\"\'](\w+)[\"\']", source()))
    unread = [
        name
        for name in tunables()
        if name.rpartition(".")[2] not in words and not name.startswith(READ_AS_A_WHOLE)
    ]
    assert unread == []
    assert all(any(name.startswith(prefix) for name in tunables()) for prefix in READ_AS_A_WHOLE)
