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


def _stuck(payload: Mapping[str, str]) -> None:
    raise ValueError("stuck")


def test_files_are_put_back_from_the_checkpoint_where_undoing_fails(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    files = [tmp_path / "a", tmp_path / "b"]
    with (
        pytest.raises(StoreError, match=r"full; not all of it could be undone: .*stuck.*restored") as told,
        Chain("one", tmp_path / "log", {"restore_file": _stuck}, files=files) as chain,
    ):
        chain.write(tmp_path / "a", b"new")
        chain.write(tmp_path / "b", b"made")
        raise StoreError("full")
    assert chain.state == "compensation_failed"
    assert (tmp_path / "a").read_bytes() == b"old" and not (tmp_path / "b").exists()
    assert (tmp_path / "a.replaced").read_bytes() == b"new"
    assert (tmp_path / "b.replaced").read_bytes() == b"made"
    assert "a.replaced" in str(told.value)
    assert (tmp_path / "log" / "one.chain").exists()


def test_a_checkpoint_is_left_alone_where_undoing_works(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(RuntimeError), Chain("one", tmp_path / "log", files=[tmp_path / "a"]) as chain:
        chain.write(tmp_path / "a", b"new")
        raise RuntimeError
    assert (chain.state, chain.restored) == ("compensated", [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "log"]


def test_a_crash_whose_steps_cannot_be_undone_falls_back_on_the_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    program = CRASH.replace('Chain("crash", folder / "log")', 'Chain("crash", folder / "log", files=[folder / "a"])')
    subprocess.run([sys.executable, "-c", program, str(tmp_path), "writing"], check=False)
    assert (tmp_path / "a").read_bytes() == b"new a"
    (chain,) = recover(tmp_path / "log", {"restore_file": _stuck})
    assert chain.state == "compensation_failed" and chain.restored
    assert (tmp_path / "a").read_bytes() == b"old"
