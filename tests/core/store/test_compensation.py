"""Writes of several steps: undone as a whole, whatever happens in the middle."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.compensation import Chain, idempotency_key, recover


def test_a_completed_chain_leaves_its_writes_and_no_log(tmp_path: Path) -> None:
    with Chain("one", tmp_path / "log") as chain:
        chain.write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert chain.state == "completed"
    assert list((tmp_path / "log").iterdir()) == []


def test_an_error_undoes_every_step_in_reverse_order(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(RuntimeError), Chain("one", tmp_path / "log") as chain:
        chain.write(tmp_path / "a", b"newer")
        chain.write(tmp_path / "a", b"newest")
        chain.write(tmp_path / "b", b"made")
        raise RuntimeError
    assert chain.state == "compensated"
    assert (tmp_path / "a").read_bytes() == b"old"
    assert not (tmp_path / "b").exists()


def test_a_step_that_cannot_be_undone_does_not_stop_the_others(tmp_path: Path) -> None:
    order: list[str] = []

    def undo(payload: Mapping[str, str]) -> None:
        order.append(payload["name"])
        if payload["name"] == "second":
            raise ValueError("stuck")

    chain = Chain("one", tmp_path, {"note": undo})
    for name in ("first", "second", "third"):
        chain.step(name, lambda: None, "note", {"name": name})
    assert chain.rollback() == "compensation_failed"
    assert order == ["third", "second", "first"]
    assert chain.problems == ["second: stuck"]
    with pytest.raises(StoreError, match="compensation_failed"):
        chain.step("fourth", lambda: None, "note", {})


def test_keys_tell_steps_and_chains_apart() -> None:
    assert idempotency_key("a", "b") == idempotency_key("a", "b")
    assert len({idempotency_key(chain, step) for chain in ("a", "b") for step in ("x", "y")}) == 4


CRASH = """
import os, signal, sys
from pathlib import Path
from core.store.compensation import Chain
folder = Path(sys.argv[1])
chain = Chain("crash", folder / "log")
chain.write(folder / "a", b"new a")
chain.write(folder / "b", b"new b")
if sys.argv[2] == "undoing":
    kept = chain._undoes
    def die(payload):
        kept["restore_file"](payload)
        chain._undoes = {"restore_file": lambda payload: os.kill(os.getpid(), signal.SIGKILL)}
    chain._undoes = {"restore_file": die}
    chain.rollback()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("moment", ["writing", "undoing"])
def test_a_crash_in_the_middle_is_picked_up(tmp_path: Path, moment: str) -> None:
    (tmp_path / "a").write_bytes(b"old a")
    crashed = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path), moment], check=False)
    assert crashed.returncode == -signal.SIGKILL
    (chain,) = recover(tmp_path / "log")
    assert chain.state == "compensated"
    assert (tmp_path / "a").read_bytes() == b"old a"
    assert not (tmp_path / "b").exists()
    assert recover(tmp_path / "log") == []


def test_a_chain_that_another_program_holds_is_left_alone(tmp_path: Path) -> None:
    chain = Chain("busy", tmp_path / "log")
    chain.write(tmp_path / "a", b"new")
    assert recover(tmp_path / "log") == []
    chain.complete()
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_damaged_line_is_named_and_the_rest_is_undone(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    subprocess.run([sys.executable, "-c", CRASH, str(tmp_path), "writing"], check=False)
    log = tmp_path / "log" / "crash.chain"
    lines = log.read_bytes().splitlines(keepends=True)
    damaged = bytearray(lines[1])
    damaged[40] ^= 1
    log.write_bytes(lines[0] + bytes(damaged))
    (chain,) = recover(tmp_path / "log")
    assert chain.state == "compensation_failed"
    assert "line 2" in chain.problems[0]
    assert (tmp_path / "a").read_bytes() == b"old"
