"""Facts, templates and the commands that tell them: every sentence rests on events that are there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bench.workload import session
from core.agents.registry import make_kit
from core.events import AgentEnd, AgentStart, Event, Prompt, SessionEnd, ToolUse, Turn
from core.extras.narrator.facts import Claim, Fact, stretch_facts, stuck_facts, told_recap, told_why
from core.extras.narrator.router import (
    Router,
    WrongAnswer,
    read_claims,
    tell_dream,
    tell_episodes,
    tell_recap,
    tell_why,
)
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.timeline.timeline import Timeline
from sample_sessions import find_sample
from tests.core.extras.narrator.made_up_model import answer, claims, serving
from tui.cli import main

SETTINGS = Settings()
_EVENT = re.compile(r"\[(\d+(?:, \d+)*)\]")


def recorded(name: str) -> Timeline:
    kit = make_kit()
    [found] = sessions([find_sample(name).path], kit)
    timeline = Timeline(SETTINGS)
    timeline.extend(read_session(found, kit))
    return timeline


@pytest.fixture(scope="module")
def stuck() -> Timeline:
    return recorded("stuck")


def test_every_sentence_of_a_template_cites_events_that_are_there(stuck: Timeline, home: Path) -> None:
    router = Router(SETTINGS)
    for told in (
        tell_recap(router, stuck, 0, len(stuck)),
        tell_why(router, stuck, 43),
        tell_why(router, stuck, len(stuck)),
    ):
        assert told.tier == "T0" and told.claims
        for claim in told.claims:
            assert claim.events and all(1 <= number <= len(stuck) for number in claim.events)


def test_why_names_the_loop_the_failure_and_its_error(stuck: Timeline) -> None:
    words = " ".join(claim.words for claim in told_why(stuck_facts(stuck, 43)))
    assert "round in circles" in words and "npx vitest run failed 8 times" in words
    assert "keeps the day across midnight" in words and "No test, build or commit has passed" in words


CIRCLING = ToolUse(
    at=40.0, tool="Bash", action="shell_exec", program="make", outcome="failure", call=99, shape=99, result=99
)


WENT = "It went round in circles from 00:00:1"


def why(*events: Event) -> list[str]:
    timeline = Timeline(SETTINGS)
    timeline.extend(events)
    return [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]


def test_an_open_question_comes_before_everything_else() -> None:
    asked = ToolUse(at=40.0, action="other", tool="AskUserQuestion", outcome="pending")
    assert why(Prompt(at=30.0, characters=5), asked)[0].startswith("It is waiting for your answer (AskUserQuestion)")
    answered = replace(asked, outcome="success")
    assert why(Prompt(at=30.0, characters=5), answered)[0].startswith("Nothing in the log suggests")


def test_a_turn_told_after_its_calls_were_answered_is_no_answer() -> None:
    call = ToolUse(at=50.0, action="shell_exec", tool="Bash")
    assert "it answered" not in why(Prompt(at=30.0, characters=5), call, Turn(at=40.0))[0]
    assert "it answered" in why(Prompt(at=30.0, characters=5), call, Turn(at=60.0))[0]


def test_a_check_that_passes_without_a_word_has_passed() -> None:
    build = ToolUse(at=40.0, action="shell_exec", tool="Bash", program="tsc", purpose="build", outcome="failure")
    lines = why(Prompt(at=30.0, characters=5), build, replace(build, at=50.0, outcome="empty"))
    assert not any(line.startswith(("No test, build or commit", "Bash")) for line in lines)
    lines = why(Prompt(at=30.0, characters=5), build, replace(build, at=50.0, outcome="pending"))
    assert any("No test, build or commit has passed" in line for line in lines)


@pytest.mark.parametrize(
    ("last", "first", "second"),
    [
        (
            Turn(at=60.0, stop="end_turn"),
            "It finished its turn and is waiting for a prompt.",
            "Bash make failed 9 times.",
        ),
        (Turn(at=60.0), "It answered; the log does not mark the end of a turn.", WENT),
        (Turn(at=60.0, stop="error"), "It needs you: an error or a refusal ended its turn.", WENT),
        (SessionEnd(at=60.0), "The session is over.", WENT),
        (Prompt(at=60.0, characters=0, interrupt=True), "The person stopped it.", "All 9 commands of"),
    ],
)
def test_a_session_at_rest_tells_what_failed_or_circled(last: Event, first: str, second: str) -> None:
    timeline = Timeline(SETTINGS)
    circles = [replace(CIRCLING, at=40.0 + number) for number in range(9)]
    timeline.extend([Prompt(at=30.0, characters=5), *circles])
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert words[0].startswith("It has been going round in circles for")
    timeline.extend([last])
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert words[0] == first and words[1].startswith(second)


@pytest.mark.parametrize(
    ("worked", "failed", "said"),
    [
        (0, 1, "The only command of the last minutes failed."),
        (0, 3, "All 3 commands of the last minutes failed."),
        (4, 1, "1 of the 5 commands of the last minutes failed."),
        (5, 1, ""),
    ],
)
def test_why_counts_the_commands_that_failed(worked: int, failed: int, said: str) -> None:
    calls = [
        replace(CIRCLING, at=40.0 + number, call=number, shape=number, result=number, outcome=outcome)
        for number, outcome in enumerate(["success"] * worked + ["failure"] * failed)
    ]
    told = [line for line in why(Prompt(at=30.0, characters=5), *calls) if "last minutes" in line]
    assert [line.split(" [")[0] for line in told] == ([said] if said else [])


def test_why_tells_of_a_question_that_waits_beside_other_calls() -> None:
    call = ToolUse(at=9.0, action="other", tool="AskUserQuestion", outcome="pending", call=1)
    read, run = replace(call, tool="Read", outcome="success", at=11.0), replace(call, tool="Bash", call=2)
    answered: list[Event] = [read, Turn(at=9.0, stop="tool_use"), call]
    open_too: list[Event] = [Turn(at=9.0, stop="tool_use"), call, run]
    for beside in (answered, open_too):
        timeline = Timeline(SETTINGS)
        timeline.extend([Prompt(at=0.0, characters=5), *beside])
        words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
        assert words[0].startswith("It is waiting for your answer (AskUserQuestion)")


def test_why_tells_of_a_last_call_without_a_result() -> None:
    """It may wait for a permission: nothing may be said to be well."""
    edit = ToolUse(at=9.0, action="file_edit", tool="Edit", targets=("a.c",), outcome="pending", call=1)
    timeline = Timeline(SETTINGS)
    timeline.extend([Prompt(at=0.0, characters=5), Turn(at=9.0, stop="tool_use"), edit])
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert words[0].startswith("It may be stuck; ")
    assert words[1].startswith("Its last call has no result: Edit a.c; it is still running, waiting for your")
    timeline.extend([replace(edit, at=10.0, outcome="success", call=2)])
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert words[0].startswith("Nothing in the log suggests that it is stuck")


def test_why_tells_of_a_sub_agent_that_goes_round_in_circles() -> None:
    timeline = Timeline(SETTINGS)
    circles = [replace(CIRCLING, at=40.0 + number, agent="a1") for number in range(9)]
    start = AgentStart(at=35.0, child="a1", role="scout")
    timeline.extend([Prompt(at=30.0, characters=5), start, *circles])
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert words[0].startswith("Sub-agent scout has been going round in circles for 8s: ")
    timeline.extend([AgentEnd(at=60.0, child="a1")])
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert not any("circles" in line for line in words)


def test_a_turn_that_ended_on_failures_names_the_last() -> None:
    timeline = Timeline(SETTINGS)
    lost = [replace(CIRCLING, at=40.0 + n, program=f"p{n}", call=n, shape=n, result=n) for n in range(1, 5)]
    timeline.extend([Prompt(at=30.0, characters=5), *lost, Turn(at=60.0, stop="end_turn")])
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert words[1] == "Bash p4 failed once."


def test_why_says_so_where_nothing_is_wrong(stuck: Timeline) -> None:
    [claim] = told_why(stuck_facts(stuck, len(stuck)))
    assert claim.words.startswith("Nothing in the log suggests that it is stuck")


def _worked(*last: ToolUse) -> Timeline:
    """A prompt, eight files changed, a failure that was solved by it, and what comes last."""
    test: dict[str, Any] = {"tool": "Bash", "action": "shell_exec", "purpose": "test", "program": "pytest"}
    edit = ToolUse(at=2.0, tool="Edit", action="file_edit", outcome="success")
    uses = [
        ToolUse(at=1.0, id="red", outcome="failure", **test),
        *(replace(edit, at=2.0 + number, targets=(f"f{number}",)) for number in range(8)),
        *(ToolUse(at=20.0 + number, id="green", outcome="success", **test) for number in range(5)),
        *last,
    ]
    timeline = Timeline(SETTINGS)
    told = (replace(use, call=number, shape=number, result=number) for number, use in enumerate(uses, 1))
    timeline.extend([Prompt(at=0.0, characters=5), *told])
    return timeline


def test_why_does_not_blame_what_was_solved_nor_forget_what_passed() -> None:
    lost = ToolUse(at=30.0, tool="Read", action="file_read", outcome="failure", targets=("gone",))
    timeline = _worked(lost)
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert words[0].startswith("It does not look stuck")
    assert words[1:] == ["Read gone failed once."]


def test_a_tool_keeps_its_own_spelling_where_a_sentence_begins_with_it() -> None:
    lost = ToolUse(at=30.0, tool="exec_command", action="shell_exec", outcome="failure", program="gh")
    timeline = _worked(lost)
    words = [claim.words for claim in told_why(stuck_facts(timeline, len(timeline)))]
    assert words[1] == "exec_command gh failed once."


def test_why_says_that_edits_were_in_vain_only_where_it_failed_after_them() -> None:
    lost = ToolUse(at=30.0, tool="Read", action="file_read", outcome="failure", targets=("gone",))
    edit = ToolUse(at=31.0, tool="Edit", action="file_edit", outcome="success", targets=("f1",))
    for last, vain in (((lost, edit), False), ((lost, edit, lost), True)):
        timeline = _worked(*last)
        words = " ".join(claim.words for claim in told_why(stuck_facts(timeline, len(timeline))))
        assert ("failed again after 1 file had been changed" in words) == vain


def test_a_recap_says_the_same_once(stuck: Timeline) -> None:
    told = told_recap(stretch_facts(stuck, 0, len(stuck)))
    assert len({claim.words for claim in told}) == len(told)
    assert Claim("A test passed.", (90, 96, 102)) in told


@pytest.mark.parametrize("events", [[], session(1), session(40), session(300, agents=3)])
def test_any_session_can_be_told(events: list[object], home: Path) -> None:
    timeline = Timeline(SETTINGS)
    timeline.extend(events)  # type: ignore[arg-type]
    router = Router(SETTINGS)
    stop = len(timeline)
    assert tell_recap(router, timeline, 0, stop).claims
    assert tell_why(router, timeline, stop).claims
    tell_episodes(router, timeline, stop)
    assert tell_dream(router, timeline, stop).claims


FACTS = {1, 2, 3}


@pytest.mark.parametrize(
    ("rows", "left"),
    [
        ([("a", [1])], ["a"]),
        ([("a", [1, 9]), ("b", [2])], ["b"]),
        ([("a", [9]), ("b", [2, 3, 2])], ["b"]),
        ([("a [1]", [1])], ["a"]),
        ([("", [1]), ("b", [1])], ["b"]),
        ([("a", [True]), ("b", [1])], ["b"]),
    ],
)
def test_a_claim_that_cites_what_is_not_there_goes_with_its_citation(
    rows: list[tuple[str, list[int]]], left: list[str]
) -> None:
    assert [claim.words for claim in read_claims(claims(*rows), FACTS)] == left


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"claims": [1, "x", {"text": 3}]}', "}{", "{" * 9000])
def test_nonsense_is_no_answer(text: str) -> None:
    with pytest.raises(WrongAnswer):
        read_claims(text, FACTS)


def test_an_answer_in_a_fence_or_among_words_is_read() -> None:
    wanted = [Claim("x", (1,))]
    assert read_claims("Sure!\n```json\n" + claims(("x", [1])) + "\n```", FACTS) == wanted
    assert read_claims("Here: " + claims(("x", [1])) + " done", FACTS) == wanted


def test_words_of_a_log_are_quoted_without_secrets_and_escapes() -> None:
    from core.extras.narrator.facts import log_words

    secret = "ghp_" + "Ab12" * 9
    said = log_words(f"use {secret}\n\x1b[31mred\x1b[0m and go on")
    assert secret not in said and "\x1b" not in said and "\n" not in said
    assert Fact(3, "x").line == "[3] x"


def test_the_commands_tell_by_templates(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(find_sample("stuck").path)
    assert main(["why", log, "--at", "43"]) == 0
    out = capsys.readouterr().out
    assert "round in circles" in out and "written by templates (T0); no language model enabled" in out
    assert all(int(number) <= 106 for cited in _EVENT.findall(out) for number in cited.split(", "))
    assert main(["why", log, "--at", "43", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tier"] == "T0" and told["claims"][0]["events"] == [43]
    assert main(["recap", log, "--prose"]) == 0
    out = capsys.readouterr().out
    assert "Files were changed" in out and "Episodes, by their own numbers" in out and "The last dream" in out


def test_a_model_that_is_on_is_named_before_it_is_asked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(find_sample("stuck").path)
    with serving(answer(claims(("The test keeps failing.", [43])))) as model:
        small = f'narrator.small=["openai tiny http://127.0.0.1:{model.port}/v1"]'
        words = ["why", log, "--at", "43", "--set", "narrator.on=true", "--set", small]
        assert main(words) == 0
        said = capsys.readouterr()
        assert "The test keeps failing. [43]" in said.out and "written by tiny on 127.0.0.1 (T1" in said.out
        assert "narrator on: small: tiny on 127.0.0.1" in said.err
        assert main(words) == 0
        assert "cached" in capsys.readouterr().out and len(model.asked) == 1
        assert main([*words, "--tier", "T0"]) == 0
        assert "written by templates (T0); T0 was requested" in capsys.readouterr().out


def test_a_project_cannot_switch_a_model_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".nooscope.toml").write_text(
        '[narrator]\non = true\nsmall = ["openai x http://127.0.0.1:9/v1"]\n[narrator.demand]\nwhy = 2.0\n'
    )
    assert main(["why", str(find_sample("stuck").path)]) == 0
    said = capsys.readouterr()
    assert "no language model enabled" in said.out and "narrator.on: " in said.err


def test_nothing_of_the_narrator_is_imported_unless_it_is_used(home: Path, log: Path) -> None:
    check = (
        "import sys\nfrom tui.cli import main\n"
        f"main(['watch', {str(log)!r}, '--headless', '--idle', '0'])\n"
        "import tui.app, tui.screens.model, tui.screens.recap\n"
        "bad = [m for m in sys.modules if m.startswith(('core.extras.narrator', 'http.client', 'keyring'))]\n"
        "print('IMPORTED', bad)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert "IMPORTED []" in done.stdout, done.stdout + done.stderr


def test_why_before_the_first_event_does_not_say_that_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(find_sample("stuck").path), "--at", "0", "--plain"]) == 0
    assert "Nothing has happened yet." in capsys.readouterr().out
