"""The compiled engine gives the same bytes as the source it was made from."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import cbor2
import msgspec
import pytest

from bench import compiled
from bench.trees import REAL
from bench.workload import session
from core.agents.registry import make_kit
from core.engine.society import Society
from core.events import MAIN, AgentEnd, AgentStart, Event, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.report.checkup import engine_compiled
from core.settings import Settings

CORE = compiled.ROOT / "core"


def family(number: int) -> Iterator[Event]:
    """More sub-agents than stay awake, so that engines are set back to their start."""
    for place in range(number):
        name = f"c{place}"
        yield AgentStart(at=2.0 * place, child=name)
        yield ToolUse(at=2.0 * place + 1.0, agent=name, tool="Read", action="file_read", targets=(name,))
        yield AgentEnd(at=2.0 * place + 1.5, agent=MAIN, child=name, outcome="success")


def runs() -> Iterator[tuple[str, list[Event]]]:
    """Sessions made up and real."""
    yield "made up", list(session(3_000))
    yield "family", list(family(300))
    if REAL.is_dir():
        kit = make_kit()
        for found in sessions([REAL], kit):
            yield found.path.name, list(read_session(found, kit))


def prints() -> Iterator[str]:
    """A line for each session: its name, and a print of every step, the last frame and the whole state."""
    for name, events in runs():
        society, made = Society(Settings()), hashlib.sha256()
        for event in events:
            made.update(msgspec.msgpack.encode(society.step(event)))
        made.update(msgspec.msgpack.encode(society.frame()))
        made.update(cbor2.dumps(society.dump()))
        again = Society(Settings())
        again.load(society.dump())
        assert again.dump() == society.dump()
        yield f"{name} {made.hexdigest()}"


@pytest.mark.skipif(not engine_compiled(), reason="the engine is plain Python; `make test-compiled`")
def test_compiled_and_plain_agree_to_the_byte() -> None:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    code = "from tests.core.test_compiled import prints, engine_compiled\nassert not engine_compiled()\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "print(*prints(), sep='\\n')"],
        cwd=compiled.ROOT,
        env=plain,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == list(prints())


def test_every_name_of_a_module_stands_for_one() -> None:
    left_out = [CORE / name for name in compiled.AS_WRITTEN]
    assert all(path.is_file() for path in [*left_out, *(CORE / name for name in compiled.modules(CORE))])


def test_values_in_compiled_modules_take_their_options_from_a_base() -> None:
    """A class keyword is lost on the way: `Struct, frozen=True` would be a struct that can be changed."""
    bare = []
    for name in compiled.modules(CORE):
        values = {"Value", "StepValue"}
        for node in ast.walk(ast.parse((CORE / name).read_text())):
            if isinstance(node, ast.ClassDef) and node.keywords:
                if values & {ast.unparse(base) for base in node.bases}:
                    values.add(node.name)
                else:
                    bare.append(f"{name}: {node.name}")
    assert bare == []


@pytest.mark.plain
def test_the_methods_that_are_written_into_a_class_stand_there(tmp_path: Path) -> None:
    (tmp_path / "core" / "engine" / "mind").mkdir(parents=True)
    copy = tmp_path / "core" / "engine" / "mind" / "clock.py"
    copy.write_text((CORE / "engine" / "mind" / "clock.py").read_text())
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        compiled.write_methods(Path("core/engine/mind/clock.py"))
    finally:
        os.chdir(here)
    (clock,) = [
        node for node in ast.parse(copy.read_text()).body if isinstance(node, ast.ClassDef) and node.name == "Clock"
    ]
    written = {node.name for node in clock.body if isinstance(node, ast.FunctionDef)}
    assert {"dump", "load"} <= written
