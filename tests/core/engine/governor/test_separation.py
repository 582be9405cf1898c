"""No affect value can reach the gate, because nothing that carries one fits."""

from __future__ import annotations

import ast
from inspect import getmodule, signature
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import pytest

import core.engine.governor
from core.engine.governor.governor import Governor, Inputs
from core.engine.governor.machine import Machine
from core.engine.percept import Pattern
from core.events import Event
from core.settings.governor import GovernorSettings

ROOM = Path(core.engine.governor.__file__).parent


def imported() -> set[str]:
    """Every name of our own that the room imports, with its module."""
    names = set()
    for file in sorted(ROOM.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
    return {name for name in names if name.startswith("core.") and not name.startswith("core.engine.governor.")}


@pytest.mark.plain
def test_a_step_takes_an_event_and_four_things_that_are_no_affect() -> None:
    hints = get_type_hints(Governor.step)
    del hints["return"]
    assert hints == {"event": Event, "novelty": float, "elapsed": float, "pattern": Pattern, "failure_rate": float}
    assert tuple(signature(Governor.step).parameters)[1:] == tuple(hints)


def test_the_room_knows_neither_affect_nor_the_axes() -> None:
    percept = {name for name in imported() if name.startswith("core.engine.percept")}
    assert percept == {"core.engine.percept.Pattern"}
    assert {name.rsplit(".", 1)[0] for name in imported()} == {
        "core.events",
        "core.engine.percept",
        "core.engine.values",
        "core.settings.governor",
        "core.engine.state",
    }


@pytest.mark.plain
def test_nothing_in_the_room_can_be_set_from_outside() -> None:
    governor = Governor(GovernorSettings())
    parts = (governor, governor._machine, governor._inputs)
    assert tuple(map(type, parts)) == (Governor, Machine, Inputs)
    names = {name for part in parts for name in (*vars(type(part)), *vars(part))}
    public = {name for name in names if not name.startswith("_")}
    writing = {"step", "restored", "reset", "begin", "open", "interrupt", "derive"}
    reading = {"STATE", "read", "levels", "trouble", "budgets", "pressures", "may_act"}
    attributes = {"state", "halt", "steps", "stagnant", "brink"}
    assert public == writing | reading | attributes
    for kind in (Governor, Machine, Inputs):
        module = getmodule(kind)
        assert isinstance(module, ModuleType)
        assert not any("affect" in name.lower() or "axis" in name.lower() for name in vars(module))
