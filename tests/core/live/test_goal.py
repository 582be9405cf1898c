"""Claude Code's own verdict on a goal decides how its turn ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.core.agents.samples import claude, says

REASON = "No integer is both odd and even."
WHOLE = f"{REASON} The goal is impossible."


def goal(second: int, **verdict: bool) -> dict[str, object]:
    attached = {"type": "goal_status", "condition": "Reply with it.", "reason": WHOLE, **verdict}
    return claude("attachment", second, attachment=attached)


@pytest.mark.parametrize(
    ("verdict", "word", "reason"),
    [
        ({"met": False, "failed": True}, "gave up", f"could not do it: “{REASON}”"),
        ({"met": True}, "done", "finished, waiting for you"),
        ({"met": False}, "done", "finished, waiting for you"),
    ],
)
def test_a_goal_that_the_agent_calls_failed_is_given_up(
    verdict: dict[str, bool], word: str, reason: str, home: Path, run: Run
) -> None:
    log = home / "s1.jsonl"
    end = claude("system", 8, subtype="turn_duration", durationMs=5)
    said = {"id": "m1", "model": "m", "content": [{"type": "text", "text": "0"}], "usage": {"output_tokens": 1}}
    lines = [says(1, "name it"), claude("assistant", 3, message=said), goal(7, **verdict), end]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    status = json.loads(run("frame", str(log), "--json")[1])["status"]
    assert (status["word"], status["reason"]) == (word, reason)
