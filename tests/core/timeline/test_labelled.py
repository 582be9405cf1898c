"""Runs whose end is known: JSON lines, packed or not, and folders of logs with labels."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import make_kit
from core.engine.response.outlook import left_out_scores
from core.errors import UnreadableLog
from core.events import ToolUse
from core.settings import Settings
from core.timeline.evaluation import LabelledRun, Walk, evaluate, labelled_run, sources, walk_all
from tui.cli import main

CALL = "<function=execute_bash>\n<parameter=command>\n{}\n</parameter>\n</function>"


def line(number: int, resolved: bool, model: str = "m", commands: int = 12) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Repair it."}]
    for place in range(commands):
        command = f"python run_{place}.py" if resolved else f"cat file_{place}.py"
        messages += [
            {"role": "assistant", "content": f"Let me try it.\n{CALL.format(command)}"},
            {"role": "user", "content": f"EXECUTION RESULT of [execute_bash]:\nout {place} of {number}"},
        ]
    return {
        "run": f"{model}/{number}",
        "model": model,
        "task": f"t{number % 7}",
        "resolved": resolved,
        "messages": messages,
    }


def packed(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize("zipped", [False, True])
def test_lines_packed_or_not(tmp_path: Path, zipped: bool) -> None:
    path = tmp_path / "runs.jsonl"
    body = packed(line(1, True), line(2, False))
    path.write_bytes(gzip.compress(body) if zipped else body)
    kit = make_kit()
    runs = [labelled_run(source, kit) for source in sources([path])]
    assert [(run.run, run.resolved) for run in runs if isinstance(run, LabelledRun)] == [("m/1", True), ("m/2", False)]
    first = runs[0]
    assert isinstance(first, LabelledRun)
    assert sum(isinstance(event, ToolUse) for event in first.events) >= 11


def test_a_folder_of_logs_with_labels(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(packed(line(1, True)))
    (tmp_path / "labels.jsonl").write_bytes(packed({"log": "a.jsonl", "resolved": False, "model": "x", "task": "y"}))
    run = labelled_run(next(sources([tmp_path])), make_kit())
    assert isinstance(run, LabelledRun)
    assert (run.model, run.task, run.resolved) == ("x", "y", False)


def test_a_folder_without_labels_says_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLog, match=r"labels\.jsonl"):
        list(sources([tmp_path]))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ([1], "is not a JSON object"),
        ({"messages": []}, "resolved: missing"),
        ({"resolved": True}, "neither messages nor traj"),
        ({"resolved": True, "traj": {"what": 1}}, "traj: not a document of a known agent"),
    ],
)
def test_a_line_that_is_none_says_why(tmp_path: Path, row: Any, why: str) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(packed(row))
    said = labelled_run(next(sources([path])), make_kit())
    assert isinstance(said, str) and why in said and said.startswith(f"{path}:1")


def test_one_model_is_not_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(packed(*(line(number, number % 2 == 0) for number in range(4))))
    assert main(["evaluate", str(path), "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("4 runs of 1 model\n")
    (left_out,) = [row.split() for row in out.splitlines() if "on tasks left out of its fit" in row]
    assert [f"{scores[0]:.3f}" for scores in left_out_scores().values()] == [
        left_out[-5],
        *left_out[-4:-2],
        left_out[-1],
    ]


def test_what_evaluate_gives(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(packed(*(line(number, number % 2 == 0) for number in range(24))))
    walks = [walk for walk in walk_all(list(sources([path])), Settings()) if isinstance(walk, Walk)]
    result = json.loads(json.dumps(evaluate(walks)))
    assert (result["runs"], result["models"]) == (24, 1)
    named = {"frustration", "seeking", "confidence", "fatigue", "flow", "uncertainty", "forecast"}
    assert named | {"failures_recent", "same_error", "since_good_edit"} <= set(result["auc"])
    assert {"10", "end"} <= set(result["auc"]["forecast"])
    assert {"loop", "frustration", "stuck", "halt", "ask_person"} <= set(result["alarms"])
    for row in result["alarms"].values():
        assert {"precision", "base", "good_alarmed", "recall", "median_action"} <= set(row)
    assert result["auc"]["runs"]["end"] == 0.0
    assert set(result["calibration"]) == {"next_call", "forecast"}
    assert result == json.loads(json.dumps(evaluate(walks)))
