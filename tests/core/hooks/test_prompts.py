"""An agent's own permission prompts answered from here: the first answer wins, silence decides nothing."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.engine.response.interventions import Advised, Adviser
from core.events import Turn
from core.hooks import server as module
from core.hooks.agent_answers import HOOKS
from core.hooks.limits import Caps, DayLedger, SessionUse, Spent, burn_rate
from core.hooks.link import look
from core.hooks.server import IntakeServer
from core.live.hook_signs import ClaudeSession, HookAsk, HookBoard, HookSigns, claude_sessions, first_hand
from core.report.advice import SilenceTrial
from core.settings import Settings
from core.settings.layers import with_value
from core.settings.response import AdviceSettings, CapSettings
from core.store.journals import PermitJournal
from tests.core.hooks.calls import hook, read, tool
from tests.core.hooks.test_server import ask, intake, make

__all__ = ["intake"]
WAY = "hook/claude/observe/answer"
ALLOW = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}


def prompt(command: str = "touch x", **more: Any) -> dict[str, Any]:
    return hook("PermissionRequest", tool_name="Bash", tool_input={"command": command}, **more)


async def put(intake: IntakeServer, value: dict[str, Any]) -> tuple[int, asyncio.Task[Any]]:
    """Put a prompt and wait for its answer as the hook program does."""
    said = str(await ask(intake, WAY, value)).split()
    assert said[0] == "answer"
    waiting = asyncio.create_task(ask(intake, f"answer/claude/{said[1]}", {}))
    await asyncio.sleep(0.05)
    return int(said[1]), waiting


async def decide(intake: IntakeServer, number: int, choice: str, **more: Any) -> Any:
    return await ask(intake, "decide", {"number": number, "choice": choice, **more})


def journal(intake: IntakeServer) -> list[tuple[str, str]]:
    entries = PermitJournal(intake._place.folder.parent / "permits.jsonl").read()
    return [(entry.what, entry.by) for entry in entries]


async def test_the_first_answer_wins_and_the_second_is_told(intake: IntakeServer) -> None:
    number, waiting = await put(intake, prompt())
    both = await asyncio.gather(
        decide(intake, number, "once", by="ann, fleet"), decide(intake, number, "deny", by="bob, page")
    )
    assert sorted(one["done"] for one in both) == [False, True]
    answer = await waiting
    first = "approved" if both[0]["done"] else "denied"
    assert (answer == ALLOW) is (first == "approved")
    assert journal(intake)[0][0] == "asked" and [what for what, by in journal(intake) if by] == [first]


async def test_a_held_call_that_the_agent_asks_about_itself_waits_once(intake: IntakeServer) -> None:
    """Its guard question came to nothing in time: only the prompt that is open now is left to answer."""
    held = tool("PreToolUse", 1, "rm -rf x")
    assert await ask(intake, "hook/claude/guard/answer", held) == "wait 1 1\n"
    late = await ask(intake, "wait/claude/1", held)
    assert late["hookSpecificOutput"]["permissionDecision"] == "ask"
    number, waiting = await put(intake, prompt("rm -rf x"))
    assert [one["number"] for one in await ask(intake, "questions", {})] == [number]
    await decide(intake, number, "once")
    assert await waiting == ALLOW


async def test_an_answer_given_before_the_hook_waits_for_it_is_not_lost(intake: IntakeServer) -> None:
    _, number, _ = str(await ask(intake, WAY, prompt())).split()
    assert (await decide(intake, int(number), "once"))["done"]
    assert await ask(intake, f"answer/claude/{number}", {}) == ALLOW
    assert not await ask(intake, f"answer/claude/{number}", {}), "an answer is handed out once"


@pytest.mark.parametrize(
    "after",
    [
        hook("PostToolUse", tool_name="Bash", tool_input={"command": "touch x"}, tool_use_id="t"),
        hook("Stop"),
        hook("UserPromptSubmit", prompt="other"),
        hook("SessionEnd"),
    ],
)
async def test_a_prompt_answered_in_its_own_dialog_is_over(intake: IntakeServer, after: dict[str, Any]) -> None:
    number, waiting = await put(intake, prompt())
    await ask(intake, WAY, after)
    assert not await waiting
    assert not (await decide(intake, number, "once"))["done"]
    assert journal(intake)[-1][0] == "elsewhere"


async def test_nobody_there_decides_nothing(intake: IntakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROMPT_WAIT", 0.3)
    _, waiting = await put(intake, prompt())
    assert not await waiting
    assert journal(intake)[-1][0] == "unanswered"


async def test_a_closed_server_answers_nothing(intake: IntakeServer) -> None:
    _, waiting = await put(intake, prompt())
    await intake.close()
    assert await waiting is None


@pytest.mark.parametrize(
    ("first", "second", "covered"),
    [
        ("touch x", "touch y", True),
        ("touch x", "mkdir y", False),
        ("touch x", "touch y && curl e | sh", False),
        ("touch x; ls", "touch x; ls", True),
        ("sudo ls", "sudo reboot", False),
        ("bash -lc 'touch x'", "bash -lc 'mkdir y'", False),
        ("bash -lc 'touch x'", "bash -lc 'touch x'", True),
        ("env A=1 touch x", "env mkdir y", False),
        ("timeout 5 touch x", "timeout 5 mkdir y", False),
        ("python3 -c 'x = 1'", "python3 -c 'x = 2'", False),
        ("find . -exec touch {} +", "find . -exec mkdir {} +", False),
    ],
)
async def test_what_an_approval_for_the_session_covers(
    intake: IntakeServer, first: str, second: str, covered: bool
) -> None:
    number, waiting = await put(intake, prompt(first))
    assert (await decide(intake, number, "session"))["done"]
    assert await waiting == ALLOW
    assert (await ask(intake, WAY, prompt(second)) == ALLOW) is covered
    assert await ask(intake, WAY, prompt(first, session="s-2")) != ALLOW


async def test_a_question_is_answered_with_its_options(intake: IntakeServer) -> None:
    asked = {"questions": [{"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}
    number, waiting = await put(intake, hook("PermissionRequest", tool_name="AskUserQuestion", tool_input=asked))
    assert not (await decide(intake, number, "once"))["done"]
    assert (await decide(intake, number, "once", answers=["Blue"]))["done"]
    decision = (await waiting)["hookSpecificOutput"]["decision"]
    assert decision["updatedInput"] == {**asked, "answers": {"Which colour?": "Blue"}}


async def test_without_the_mode_a_prompt_is_not_held(intake: IntakeServer) -> None:
    assert not await ask(intake, "hook/claude/guard", prompt())
    assert await ask(intake, "questions", {}) == []


@pytest.mark.parametrize(
    ("kind", "moment"),
    [
        ("permission_prompt", "attention"),
        ("agent_needs_input", "attention"),
        ("elicitation_response", "batch"),
        ("agent_completed", None),
        ("auth_success", None),
        ("idle_prompt", None),
        ("", "attention"),
    ],
)
def test_only_notifications_that_mean_a_wait_become_one(kind: str, moment: str | None) -> None:
    call = HOOKS["claude"].read(hook("Notification", message="m", notification_type=kind))
    assert (call.moment if call else None) == moment


def test_a_stop_with_background_work_is_not_the_end() -> None:
    assert read(hook("Stop", background_tasks=[{"id": "1"}])).background
    assert read(hook("StopFailure", error="overloaded")).failed


def test_a_process_says_itself_whether_it_waits(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "sessions"
    folder.mkdir(parents=True)
    start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    own = {"pid": os.getpid(), "sessionId": "s", "procStart": start, "statusUpdatedAt": 5000}
    waits = own | {"status": "waiting", "waitingFor": "permission prompt"}
    (folder / "1.json").write_text(json.dumps(waits))
    (folder / "2.json").write_text(json.dumps(waits | {"sessionId": "dead", "procStart": "1"}))
    (folder / "3.json").write_text("{")
    sessions = claude_sessions({}, tmp_path)
    assert {name: own.status for name, own in sessions.items()} == {"s": "waiting", "dead": "gone"}
    board = first_hand(HookBoard(sessions={"dead": HookSigns(asks=(HookAsk(4.0, "old", "main"),))}), sessions)
    assert board.sessions["dead"] == HookSigns(process="gone")
    signs = first_hand(HookBoard(), sessions).of("s")
    assert signs is not None and signs.asking() is not None
    (folder / "1.json").write_text(json.dumps(own | {"status": "busy"}))
    board = HookBoard(sessions={"s": HookSigns(asks=(HookAsk(4.0, "old", "main"), HookAsk(6.0, "new", "main")))})
    after = first_hand(board, claude_sessions({}, tmp_path)).of("s")
    assert after is not None and [ask.why for ask in after.asks] == ["new"]
    (folder / "1.json").write_text(json.dumps(waits | {"pidDomain": "linux:0:pid:[1]"}))
    assert "s" not in claude_sessions({}, tmp_path), "a process of another container is out of sight"


@pytest.mark.parametrize(
    ("state", "tempo", "status"),
    [
        ("working", "blocked", "waiting"),
        ("working", "active", "busy"),
        ("done", "idle", "idle"),
        ("stopped", "blocked", "gone"),
    ],
)
def test_a_background_job_says_what_it_needs(state: str, tempo: str, status: str, tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "jobs" / "0a1b2c3d"
    folder.mkdir(parents=True)
    job = {"sessionId": "s", "state": state, "tempo": tempo, "needs": "approve Bash: touch made"}
    (folder / "state.json").write_text(json.dumps(job | {"updatedAt": "2026-01-01T10:00:00Z"}))
    sessions = claude_sessions({}, tmp_path)
    assert sessions["s"].status == status
    signs = first_hand(HookBoard(), sessions).of("s")
    asking = signs.asking() if signs is not None else None
    assert (asking is not None and asking.why == "approve Bash: touch made") is (status == "waiting")
    (folder / "state.json").write_text("[]")
    assert not claude_sessions({}, tmp_path)


@pytest.mark.parametrize(("since", "shown"), [(999.0, False), (1000.4, False), (1000.6, True)])
async def test_an_answered_prompt_waits_no_more_unless_its_dialog_stays(
    intake: IntakeServer, since: float, shown: bool
) -> None:
    """The process says a moment longer that it waits; what begins later, or stays, is a wait of its own."""
    clock = intake.handler._clock
    number, waiting = await put(intake, prompt())
    await decide(intake, number, "once")
    assert await waiting == ALLOW
    waits = {"s-1": ClaudeSession(7, "s-1", "", "waiting", "permission prompt", since, attended=True)}

    async def asks() -> bool:
        intake.handler.update_processes(waits)
        signs = (await asyncio.to_thread(look, intake._place)).of("s-1")
        return signs is not None and signs.asking() is not None

    assert await asks() is shown
    clock.now += 1.9  # type: ignore[attr-defined]
    assert await asks() is shown
    clock.now += 0.1  # type: ignore[attr-defined]
    assert await asks()


async def test_a_restart_gives_no_old_number_to_another_call(intake: IntakeServer, tmp_path: Path) -> None:
    number, waiting = await put(intake, prompt())
    after = make(tmp_path, None)
    await after.start()
    try:
        assert (await put(after, prompt("touch y")))[0] == number + 1
        assert "no longer waiting" in (await decide(after, number, "once"))["why"]
    finally:
        waiting.cancel()
        await after.close()


@pytest.mark.parametrize(
    ("dollars", "warns", "holds"), [(0.79, False, False), (0.8, True, False), (0.99, True, False), (1.0, True, True)]
)
def test_a_cap_warns_at_a_share_and_holds_when_reached(dollars: float, warns: bool, holds: bool) -> None:
    caps = Caps(CapSettings(session_dollars=1.0))
    use = caps.use(Spent(dollars), Spent())
    assert bool(caps.warning(use)) is warns
    assert bool(caps.reached("s", use)) is holds
    caps.lift("s")
    assert not caps.reached("s", use)
    assert bool(caps.reached("other", use)) is holds


def test_a_cap_on_the_day_survives_a_restart(tmp_path: Path) -> None:
    noon = 20_000.5 * 86_400
    ledger = DayLedger(tmp_path / "spent.json")
    ledger.update(noon, {"a": Spent(0.6, 10), "b": Spent(0.3, 5)})
    ledger.write(noon)
    again = DayLedger(tmp_path / "spent.json")
    today = again.update(noon + 1, {"b": Spent(0.5, 7), "a": Spent()})
    assert today == Spent(1.1, 17)
    caps = Caps(CapSettings(all_dollars=1.1))
    assert caps.reached("c", caps.use(Spent(), today))
    assert again.update(noon + 86_400, {"b": Spent(0.1, 1)}) == Spent(0.1, 1)
    (tmp_path / "spent.json").write_text("[1, 2]")
    assert DayLedger(tmp_path / "spent.json").update(noon, {}) == Spent()


@pytest.mark.parametrize(("now", "known", "warns"), [(100_000, 12, True), (99_000, 12, False), (100_000, 11, False)])
def test_tokens_much_faster_than_usual_are_a_warning(now: int, known: int, warns: bool) -> None:
    before, session = SessionUse(), SessionUse()
    for stretch in range(known):
        before.update(Turn(at=600.0 * stretch, context_tokens=9_000, output_tokens=1_000))
    session.update(Turn(at=600.0 * 50, context_tokens=now))
    burn = burn_rate(session, (before, session), 600.0 * 50 + 1)
    assert bool(Caps(CapSettings(burn=10.0)).warning(None, burn)) is warns
    assert not Caps(CapSettings(burn=0.0)).warning(None, burn)


@pytest.mark.parametrize("reached", ["ask", "stop"])
async def test_a_cap_holds_the_next_call_until_it_is_lifted(tmp_path: Path, reached: str) -> None:
    settings = with_value(Settings(), "response.guard.wait", 0.0)
    settings = with_value(settings, "response.caps.session_dollars", 1.0)
    server = make(tmp_path, settings=with_value(settings, "response.caps.reached", reached))
    await server.start()
    line = {"session_id": "s-1", "transcript_path": "/x", "cwd": "/p", "cost": {"total_cost_usd": 2.0}}
    shown = await ask(server, "statusline", line)
    read_call = tool("PreToolUse", 1, "ls")
    first = await ask(server, "hook/claude/guard", read_call)
    if reached == "ask":
        assert str(first).startswith("wait ")
    else:
        assert first["continue"] is False
        assert first["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "cap reached" in str(await ask(server, "statusline", line)), shown
    assert (await ask(server, "decide", {"choice": "lift", "session": "s-1"}))["done"]
    assert not await ask(server, "questions", {}), "the held call goes on"
    assert not await ask(server, "hook/claude/guard", tool("PreToolUse", 2, "ls"))
    await server.close()


def test_random_silence_is_seeded_and_spares_the_person() -> None:
    advised = [Advised(f"[nooscope] fact {number}", "loop") for number in range(400)]
    half = Adviser(AdviceSettings(silence=0.5, seed=1))
    drawn = [half.withholds(one, "s") for one in advised]
    assert drawn == [Adviser(AdviceSettings(silence=0.5, seed=1)).withholds(one, "s") for one in advised]
    assert drawn != [Adviser(AdviceSettings(silence=0.5, seed=2)).withholds(one, "s") for one in advised]
    assert 150 < sum(drawn) < 250
    assert not any(Adviser(AdviceSettings()).withholds(one, "s") for one in advised)
    assert not any(half.withholds(one._replace(rule="person"), "s") for one in advised)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((1, 19, 10, 19), "too few"),
        ((2, 40, 30, 40), "advice helps"),
        ((30, 40, 2, 40), "advice hurts"),
        ((20, 40, 21, 40), "no effect can be shown"),
    ],
)
def test_advice_is_compared_with_silence_once_there_is_enough(counts: tuple[int, ...], words: str) -> None:
    assert words in SilenceTrial(*counts).sentence


async def test_a_denial_that_came_after_its_own_dialog_is_not_the_last_word(intake: IntakeServer) -> None:
    """The person allowed the call in its own dialog a moment before: it runs, and the journal says so."""
    number, waiting = await put(intake, prompt())
    assert (await decide(intake, number, "deny", by="ann"))["done"]
    await waiting
    await ask(intake, WAY, tool("PostToolUse", 1, "touch x"))
    assert journal(intake)[1:] == [("denied", "ann"), ("elsewhere", "")]
    number, waiting = await put(intake, prompt())
    await decide(intake, number, "deny", by="ann")
    await waiting
    await ask(intake, WAY, tool("PreToolUse", 2, "touch x"))
    await ask(intake, WAY, tool("PostToolUse", 2, "touch x"))
    assert journal(intake)[-1] == ("denied", "ann"), "the agent tried once more, and that call ran"


async def test_an_answer_to_a_hook_that_hung_up_was_given_elsewhere(intake: IntakeServer) -> None:
    _, number, _ = str(await ask(intake, WAY, prompt())).split()
    answers = intake.handler.answers
    waiting = asyncio.create_task(answers.wait(int(number), lambda: True))
    answers.decide(int(number), "once", by="ann")
    answered = await waiting
    assert answered is not None and not answered[1].approved
    assert journal(intake)[1:] == [("approved", "ann"), ("elsewhere", "")]


@pytest.mark.parametrize("denied", [False, True])
async def test_a_late_question_about_a_call_that_ran_is_over(intake: IntakeServer, denied: bool) -> None:
    """Nobody answered the guard in time, and the agent's own dialog allowed it."""
    held = tool("PreToolUse", 1, "rm -rf x")
    assert await ask(intake, "hook/claude/guard", held) == "wait 1 1\n"
    await ask(intake, "wait/claude/1", held)
    if denied:
        assert (await decide(intake, 1, "deny", by="ann"))["done"]
    await ask(intake, "hook/claude/guard", tool("PostToolUse", 1, "rm -rf x"))
    assert not await ask(intake, "questions", {})
    assert journal(intake)[-1] == ("elsewhere", "")
    assert await ask(intake, "hook/claude/guard", held) == "wait 2 1\n", "a denial holds for the call it was about"


@pytest.mark.parametrize(("mode", "allows"), [("default", True), ("plan", True), ("auto", False), ("dontAsk", False)])
async def test_an_approval_opens_nothing_that_the_mode_itself_decides(
    intake: IntakeServer, mode: str, allows: bool
) -> None:
    held = tool("PreToolUse", 1, "rm -rf x", permission_mode=mode)
    await ask(intake, "hook/claude/guard", held)
    await ask(intake, "wait/claude/1", held)
    await decide(intake, 1, "once")
    answer = await ask(intake, "hook/claude/guard", held)
    assert bool(answer) is allows
    assert not allows or answer["hookSpecificOutput"]["permissionDecision"] == "allow"


async def test_an_approval_for_the_session_ends_with_the_permission_mode(intake: IntakeServer) -> None:
    number, waiting = await put(intake, prompt(permission_mode="default"))
    await decide(intake, number, "session")
    assert await waiting == ALLOW
    assert await ask(intake, WAY, prompt(permission_mode="default")) == ALLOW
    assert str(await ask(intake, WAY, prompt(permission_mode="plan"))).startswith("answer ")


async def test_qwen_opens_its_dialog_when_nobody_answers_in_time(intake: IntakeServer) -> None:
    asks = hook("PermissionRequest", tool_name="run_shell_command", tool_input={"command": "touch x"})
    way = "hook/qwen/observe/answer"
    _, number, seconds = str(await ask(intake, way, asks)).split()
    assert float(seconds) <= intake.handler.guard.wait + 1
    assert (await decide(intake, int(number), "deny", reason="not now"))["done"]
    answer = await ask(intake, f"answer/qwen/{number}", {})
    assert answer["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "denied in nooscope: not now"}
    question = hook("PermissionRequest", tool_name="ask_user_question", tool_input={"questions": []})
    assert not await ask(intake, way, question), "its own question can only be answered in its dialog"


def test_qwen_names_calls_as_its_log_does() -> None:
    call = read(tool("PreToolUse", 1, tool_call_id="call_1", permission_mode="yolo"), "qwen")
    assert (call.id, call.unattended) == ("call_1", True)
    assert HOOKS["qwen"].read(hook("UserPromptSubmit", prompt="")) is None
