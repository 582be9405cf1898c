"""What hooks tell ahead of the log: joined with it by ids, in every order, and never in the recording."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from core.agents.registry import make_kit
from core.events import ToolUse
from core.live.driver import Driver
from core.live.fleet.row import FleetRow
from core.live.hook_signs import HookAsk, HookBoard, HookEndedCall, HookOpenCall, HookSigns, PermitQuestion, answer_keys
from core.live.source import Followed
from core.live.status import AgentTrouble, Limits, StatusFacts, status_of
from core.report.now import Now, NowReader
from core.settings import Settings
from core.timeline.checkpoints import state_hash
from core.timeline.run_inputs import InitialStates
from tests.core.logs.log_lines import call, prompt, result

LIMITS = Limits.of(Settings())
ENDED = HookEndedCall("c1", 2.0, "main", "Bash", "shell_exec", "failure", "echo")
QUESTION = PermitQuestion(3, 50.0, "s", "Bash", "rm -rf x", "the command destroys something")


@pytest.mark.parametrize(
    ("kind", "keys"),
    [("guard", "y allow  Y session  d deny"), ("question", "y answer  d decline"), ("plan", "y approve  d reject")],
)
def test_only_keys_that_answer_are_offered(kind: Literal["guard", "question", "plan"], keys: str) -> None:
    question = replace(QUESTION, kind=kind)
    assert answer_keys(HookSigns(questions=(question,))) == keys
    assert answer_keys(HookSigns(questions=(question, QUESTION))) == f"{keys} (1 of 2)"


@pytest.mark.parametrize(
    ("signs", "ended", "asks"),
    [
        (HookSigns(), (), None),
        (HookSigns(asks=(HookAsk(5.0, "asks", "main", "c1"),)), (), AgentTrouble(5.0, "asks")),
        (HookSigns(asks=(HookAsk(5.0, "asks", "main", "c1"),)), ("c1",), None),
        (HookSigns(asks=(HookAsk(5.0, "asks", "main"),)), ("",), AgentTrouble(5.0, "asks")),
        (
            HookSigns(asks=(HookAsk(60.0, "asks", "main"),), questions=(QUESTION,)),
            (),
            AgentTrouble(50.0, "needs your permit: rm -rf x (the command destroys something)"),
        ),
    ],
)
def test_what_waits_longest_is_told(signs: HookSigns, ended: tuple[str, ...], asks: AgentTrouble | None) -> None:
    assert signs.asking(ended) == asks


def test_what_is_asked_by_hooks_needs_the_person_whatever_the_log_says() -> None:
    for close in ("", "done", "tool", "ended"):
        facts = StatusFacts(events=1, heard=100.0, close=close, asks=AgentTrouble(99.0, "Bash asks"))
        status = status_of(facts, 100.0, LIMITS)
        assert (status.word, status.level, status.since, status.why) == ("needs you", 3, 99.0, "Bash asks")
        assert not status.stale
    left = LIMITS.fleet.left
    assert status_of(facts, 100.0 + left, LIMITS).stale


class Told:
    """A driver on a log, with hooks that tell what they are told to."""

    def __init__(self, log: Path) -> None:
        settings = Settings()
        self.signs: HookSigns | None = None
        source = Followed(log, make_kit(settings.ingest), settings)
        self.driver = Driver(source, InitialStates(settings), record=True, hooks=lambda _: self.signs)

    def now(self) -> Now:
        list(self.driver.poll(100))
        timeline = self.driver.timeline
        assert timeline is not None
        return NowReader().now(timeline.events, len(timeline), 9.0, pending=self.driver.pending_events(), words=False)

    def open(self) -> list[str]:
        list(self.driver.poll(100))
        return [call.tool for call in self.driver.facts().open]


@pytest.mark.parametrize("order", list(permutations(("hook opens", "hook ends", "log opens", "log ends"))))
def test_a_call_is_open_once_whoever_tells_first(order: tuple[str, ...], tmp_path: Path) -> None:
    """All orders in which both sources keep their own; afterwards it is over."""
    if order.index("hook opens") > order.index("hook ends") or order.index("log opens") > order.index("log ends"):
        return
    log = tmp_path / "s.jsonl"
    log.write_bytes(prompt(0.0))
    one = Told(log)
    list(one.driver.poll(100))
    for what in order:
        match what:
            case "hook opens":
                one.signs = HookSigns(open=(HookOpenCall("c1", 1.0, "main", "Bash", "shell_exec"),))
            case "hook ends":
                one.signs = HookSigns(ended=(ENDED,))
            case "log opens":
                log.write_bytes(log.read_bytes() + call(1.0, "c1"))
            case "log ends":
                log.write_bytes(log.read_bytes() + result(2.0, "c1"))
        done = order.index(what)
        ended = "log ends" in order[: done + 1] or "hook ends" in order[: done + 1]
        begun = "log opens" in order[: done + 1] or (what == "hook opens" and not ended)
        hooked = "hook opens" in order[: done + 1] and "hook ends" not in order[: done + 1]
        assert one.open() == (["Bash"] if (begun or hooked) and not ended else [])
    assert one.open() == []


def test_a_call_is_seen_before_the_log_tells_it_and_recorded_once(tmp_path: Path) -> None:
    """Shown as running and failed by its hooks alone; then the log's own line, joined by its id, is kept."""
    log = tmp_path / "s.jsonl"
    log.write_bytes(prompt(0.0))
    hooked = Told(log)
    hooked.signs = HookSigns(open=(HookOpenCall("c1", 1.0, "main", "Bash", "shell_exec"),))
    assert (hooked.now().tool, hooked.now().running) == ("Bash", True)
    hooked.signs = HookSigns(ended=(ENDED,))
    seen = hooked.now()
    assert (seen.tool, seen.running, seen.failed_tool, seen.failed_at) == ("Bash", False, "Bash", 2.0)
    assert hooked.driver.facts().open == () and hooked.driver.count == 2
    log.write_bytes(log.read_bytes() + call(1.0, "c1"))
    assert not hooked.now().running and hooked.now().failed_tool == "Bash"
    log.write_bytes(log.read_bytes() + result(2.0, "c1", error=True))
    assert (hooked.now().failed_tool, hooked.now().times) == ("Bash", 1)
    assert not any(isinstance(event, ToolUse) for event in hooked.driver.pending_events())
    replayed = Told(log)
    list(replayed.driver.poll(100))
    assert hooked.driver.timeline is not None and replayed.driver.timeline is not None
    assert hooked.driver.timeline.events == replayed.driver.timeline.events
    assert [event.id for event in replayed.driver.timeline.events if isinstance(event, ToolUse)] == ["c1"]
    assert state_hash(hooked.driver.society) == state_hash(replayed.driver.society)


def test_hooks_change_nothing_in_the_recording(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_bytes(prompt(0.0) + call(1.0, "c1") + result(2.0, "c1"))
    plain, hooked = Told(log), Told(log)
    hooked.signs = HookSigns(
        heard=9.0, asks=(HookAsk(9.0, "asks", "main"),), open=(HookOpenCall("c2", 9.0, "main", "Bash", "shell_exec"),)
    )
    for one in (plain, hooked):
        list(one.driver.poll(100))
        one.driver.status(10.0)
        one.driver.pending_events()
    assert hooked.driver.facts().asks is not None
    assert len(hooked.driver.pending_events()) == len(plain.driver.pending_events()) + 1
    assert state_hash(plain.driver.society) == state_hash(hooked.driver.society)
    assert plain.driver.count == hooked.driver.count


@pytest.mark.parametrize(
    ("signs", "word"),
    [
        (None, "done"),
        (HookSigns(heard=100.0), "done"),
        (HookSigns(questions=(QUESTION,)), "needs you"),
        (HookSigns(asks=(HookAsk(90.0, "Bash asks for permission", "main"),)), "needs you"),
        (HookSigns(open=(HookOpenCall("c", 90.0, "main", "AskUserQuestion", "other"),)), "needs you"),
        (HookSigns(open=(HookOpenCall("c", 90.0, "main", "Bash", "shell_exec"),)), "done"),
    ],
)
def test_a_row_of_the_fleet_with_its_hooks(signs: HookSigns | None, word: str) -> None:
    facts = StatusFacts(events=3, heard=95.0, close="done", closed=95.0)
    row = FleetRow("k", Path("x"), "s", "claude-code", "/p", facts=facts, status=status_of(facts, 100.0, LIMITS))
    hooked = row.hooked(signs, 100.0, LIMITS)
    assert hooked.status.word == word
    assert hooked.hooked(None, 100.0, LIMITS).signs is None


def test_a_row_without_words_keeps_those_of_hooks_to_itself() -> None:
    facts = StatusFacts(events=3, heard=95.0, close="done", closed=95.0)
    stands = status_of(facts, 100.0, LIMITS)
    row = FleetRow("k", Path("x"), "s", "pi", "/p", facts, stands, last="said “so”", title="A day")
    asks = row.hooked(HookSigns(questions=(QUESTION,)), 100.0, LIMITS)
    assert "rm -rf x" in asks.why
    bare = asks.wordless()
    assert (bare.why, bare.title, bare.last, bare.signs) == ("it waits for your answer", "", "", HookSigns())
    assert row.wordless().why == row.why


def test_a_board_lists_the_questions_of_all_sessions_in_order() -> None:
    from msgspec.structs import replace

    later = replace(QUESTION, number=7)
    board = HookBoard(1, True, {"b": HookSigns(questions=(later,)), "a": HookSigns(questions=(QUESTION,))})
    assert [one.number for one in board.questions] == [3, 7] and board.of("none") is None
