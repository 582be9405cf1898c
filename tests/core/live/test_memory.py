"""A session that is watched for hours takes no more memory than one of minutes."""

from __future__ import annotations

import gc
import sys
from itertools import islice
from pathlib import Path

from bench.claude import lines
from core.agents.registry import make_kit
from core.hooks.agent_answers import HOOKS
from core.hooks.session import HookedSession
from core.live.fleet.member import SessionModel
from core.settings import Settings
from core.timeline.run_inputs import InitialStates


def blocks() -> int:
    """Pieces of memory that are in use."""
    gc.collect()
    return sys.getallocatedblocks()


def test_a_session_of_the_fleet_does_not_keep_its_events(tmp_path: Path) -> None:
    path, written = tmp_path / "session.jsonl", lines(1)
    states = InitialStates(Settings())
    kit = make_kit(states.settings.ingest)
    path.write_bytes(b"".join(islice(written, 2_500)))
    model = SessionModel(path, kit, states, states.of("session"), 0.0)

    def read_all() -> tuple[int, int]:
        while True:
            model.advance(200)
            if not model.behind:
                break
            model.last_words()
        kit.normalizer._known.clear()  # A memo that all sessions share.
        return model.driver.count, blocks()

    events, before = read_all()
    with path.open("ab") as file:
        file.write(b"".join(islice(written, 3_500)))
    model.driver.source.look()
    later, after = read_all()
    assert events > 500 and later - events > 800
    assert (after - before) / (later - events) < 6.0  # an event that is kept takes 8 to 20


def test_a_session_with_hooks_does_not_keep_its_calls() -> None:
    session = HookedSession(HOOKS["claude"], "session", make_kit(Settings().ingest), Settings())

    def call(count: int, begin: int) -> int:
        for number in range(begin, begin + count):
            body = {"session_id": "session", "tool_name": "Bash", "tool_use_id": f"call-{number}"}
            body["tool_input"] = {"command": "git status --short"}  # type: ignore[assignment]
            for place, moment in enumerate(("PreToolUse", "PostToolUse")):
                answer = {"hook_event_name": moment, "tool_response": {"stdout": "ok"}}
                hook = HOOKS["claude"].read(body | answer)
                assert hook is not None
                session.step(hook, 1e9 + 2 * number + place)
        return blocks()

    before = call(1_200, 0)
    assert call(300, 1_200) - before < 300  # a call that is kept takes 8
