"""`nooscope sweep`: over many sessions, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.claude import write_log
from core.store.bookmarks import Label, Labels
from tests.core.timeline.test_sweep import Listener
from tests.tui.tuning_app import Stage
from tui.cli import main
from tui.widgets.tuning.comparison import sweep_lines

NAME = "receptor.ambient.offset.confidence"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(2):
        write_log(folder / f"session-{number}.jsonl", 200_000, seed=number + 1)
    return folder


def swept(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["sweep", *words, "--json"]) == 0
    content: dict[str, object] = json.loads(capsys.readouterr().out)
    return content


def test_one_process_and_several_agree(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = swept(capsys, str(logs), "--set", f"{NAME}=0.05:0.8:3", "--jobs", "1")
    together = swept(capsys, str(logs), "--set", f"{NAME}=0.05:0.8:3", "--jobs", "2")
    assert alone == together
    assert alone["sessions"] == 2
    points = alone["points"]
    assert isinstance(points, list)
    assert [point["value"] for point in points] == [0.05, 0.425, 0.8]
    assert all(point["fired"] == sum(point["names"].values()) for point in points)
    assert points[0]["names"] != points[2]["names"]
    assert points[0]["precision"] is None


def test_labels_give_precision_and_recall(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from core.agents.registry import make_kit
    from core.logs.finder import sessions

    found = sessions([logs], make_kit())
    Labels(found[0].id).judge(Label(3, 0.0, "missed"))
    content = swept(capsys, str(logs), "--set", f"{NAME}=0.05:0.8:2")
    points = content["points"]
    assert isinstance(points, list)
    assert content["labelled"] == 1
    assert [point["recall"] for point in points] == [0.0, 0.0]
    assert main(["sweep", str(logs), "--set", f"{NAME}=0.05:0.8:2"]) == 0
    text = capsys.readouterr().out
    assert "precision" in text
    assert "recall" in text


def test_text_has_a_chart_and_a_table(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(logs), "--set", f"{NAME}=0:0.8:5"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(NAME)
    assert "2 sessions" in out
    assert "▲" in out
    assert "confidence_sustained" in out


@pytest.mark.parametrize("given", ["nothing=0:1:3", f"{NAME}=0:5:3", f"{NAME}=0:0.5", "screen.motion=0:1:2"])
def test_what_makes_no_sense_is_said(given: str, logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(logs), "--set", given]) == 2
    assert capsys.readouterr().err.startswith("nooscope: ")


def test_the_chart_marks_the_present_value(tmp_path: Path) -> None:
    from core.settings.layers import tunables
    from core.timeline.whatif import sweep_recording, usual_grid

    timeline = Stage(tmp_path).timeline
    told = Listener()
    values = usual_grid(tunables()[NAME], 0.25, 9)
    sweep_recording(timeline, NAME, values, [], told)
    for width, height in ((40, 8), (70, 10), (100, 14)):
        lines = ["".join(text for text, _ in line) for line in sweep_lines(told[-1], width, height)]
        assert len(lines) <= height
        assert all(len(line) <= width for line in lines)
        arrow = next(line for line in lines if "▲" in line)
        bars = lines[0]
        share = (arrow.index("▲") - 6) / (len(bars) - 7)
        assert share == pytest.approx(0.25 / 0.8, abs=0.05)
        assert any(".25 now" in line for line in lines)


def test_labels_are_exported_as_json(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Labels("one").judge(Label(3, 5.0, "wrong", "fatigue_rising"))
    assert main(["labels"]) == 0
    (rows,) = json.loads(capsys.readouterr().out)["sessions"].values()
    assert [(row["place"], row["verdict"], row["name"]) for row in rows] == [(3, "wrong", "fatigue_rising")]
    out = logs / "labels.json"
    assert main(["labels", "--out", str(out)]) == 0
    assert json.loads(out.read_bytes())["sessions"]
    assert main(["labels", "--out", str(out / "below")]) == 1
