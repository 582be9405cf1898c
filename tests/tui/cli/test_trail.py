"""`trail`: the moves of a person, and whether the record of them is whole."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from bench.claude import lines
from core.agents.registry import make_kit
from core.logs.finder import sessions
from core.report.chrono import Trail
from core.settings import Settings
from core.store.bookmarks import TrailStore
from tui.cli import main


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "story.jsonl"
    path.write_bytes(b"".join(islice(lines(1), 100)))
    return path


def store_of(log: Path) -> TrailStore:
    settings = Settings()
    (found,) = sessions([str(log)], make_kit(settings.ingest), settings.ingest.lines)
    return TrailStore(found.id)


def test_moves_are_shown_and_checked(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trail", str(log)]) == 0
    assert "no moves are recorded" in capsys.readouterr().out
    trail = Trail()
    for number in range(3):
        trail.add(10.0 * number, number, number + 5, "", "none", ())
    store_of(log).write(trail.dump())
    assert main(["trail", str(log)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 4 and "2 -> 7" in rows[2] and "3 moves, the chain is intact" in rows[3]
    assert main(["trail", str(log), "--verify"]) == 0
    assert main(["trail", str(log), "--head", trail.head[:12]]) == 0
    assert main(["trail", str(log), "--head", "00000000"]) == 1
    capsys.readouterr()
    assert main(["trail", str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["head"] == trail.head


def test_a_changed_record_is_found(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trail = Trail()
    for number in range(3):
        trail.add(10.0 * number, number, number + 5, "", "none", ())
    rows = [list(row) for row in trail.dump()]
    rows[1][3] = 9
    store_of(log).write(rows)
    assert main(["trail", str(log), "--verify"]) == 1
    assert "damaged at move 2" in capsys.readouterr().err
    store_of(log).write(trail.dump())
    path = store_of(log).path
    path.write_bytes(path.read_bytes().replace(b"forward", b"backward"))
    assert main(["trail", str(log), "--verify"]) == 1
    assert "was changed or damaged" in capsys.readouterr().err
