"""The fleet without a screen: who is found, followed, put to sleep and woken, and what their rows say."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
from pathlib import Path

import pytest

from bench.claude import lines
from core.agents.normalizer import Sorted
from core.agents.registry import make_kit
from core.events import ToolUse
from core.live.fleet.member import Member
from core.live.fleet.roster import FleetWatch, Roster, once
from core.live.fleet.row import VIEWS, FleetRow, Heading, Order, census, listed, row_json
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.lines import seconds
from core.logs.session import read_session
from core.settings import Settings
from tests.core.agents.samples import codex, codex_call, codex_meta, codex_output, codex_tokens, encoded
from tests.core.logs.log_lines import gemini
from tests.tui.fleet_sessions import NOW, STORIES, Log, begin, tell


class Clock:
    """A wall clock that is set by hand."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def roster(home: Path, clock: Clock | None = None, **fleet: object) -> Roster:
    plain = Settings()
    chosen = plain.screen.fleet.replace(**fleet)
    settings = plain.replace(screen=plain.screen.replace(fleet=chosen))
    return Roster(settings, {}, home, wall=clock or Clock())


def settle(fleet: Roster) -> dict[str, FleetRow]:
    """Everything read; rows by project."""
    if fleet.lacking:
        fleet.look()
    while fleet.work(5.0):
        pass
    fleet.settle(fleet.wall())
    return {row.name: row for row in fleet.rows(fleet.wall())}


def words(rows: dict[str, FleetRow]) -> dict[str, str]:
    return {name: row.status.word for name, row in rows.items()}


def members(fleet: Roster) -> list[Member]:
    return list(fleet._members.values())


def test_every_story_is_called_by_its_name(tmp_path: Path) -> None:
    tell(tmp_path)
    rows, now = once(roster(tmp_path))
    assert now == NOW
    assert {row.name: row.status.word for row in rows} == STORIES
    by_need = [row.name for row in listed(rows, Order()) if isinstance(row, FleetRow)]
    assert by_need[:4] == ["asks", "permits", "circles", "hangs"]
    assert by_need[-1] == "abandoned"
    told = {row.name: row_json(row, now) for row in rows}
    assert told["asks"]["needs_person"] is True
    assert told["asks"]["for_seconds"] == 40.0
    assert told["asks"]["open_calls"] == [{"agent": "main", "tool": "AskUserQuestion", "at": NOW - 40}]
    assert told["hangs"]["silent_seconds"] == 400.0
    assert "pytest" in told["circles"]["loop"]
    assert told["brims"]["context"] > 0.9
    assert told["flows"]["tokens_per_minute"] > 1000


def test_a_row_counts_what_a_replay_of_its_log_counts(tmp_path: Path) -> None:
    """The last turn and a call without a result too, which minds see once they are over."""
    tell(tmp_path)
    rows, _ = once(roster(tmp_path))
    for row in rows:
        kit = make_kit()
        [session] = sessions([row.path], kit)
        events = list(read_session(session, kit))
        assert row.facts.events == len(events), row.name
        assert row.calls == sum(isinstance(event, ToolUse) for event in events), row.name


def test_what_is_old_is_not_listed(tmp_path: Path) -> None:
    begin(tmp_path, "old", 1, 3 * 86_400).write()
    begin(tmp_path, "idle", 2, 60).write()
    assert [row.name for row in once(roster(tmp_path))[0]] == ["idle"]
    assert len(once(roster(tmp_path, within=100.0))[0]) == 2
    assert len(once(roster(tmp_path, within=100.0, most=1))[0]) == 1


def test_the_words_before_the_end_of_a_turn_are_its_last(tmp_path: Path) -> None:
    log = tmp_path / ".codex/sessions/2026/03/01/rollout-a.jsonl"
    log.parent.mkdir(parents=True)
    said = [{"type": "output_text", "text": "It works."}]
    told = [
        codex_meta(0),
        codex("event_msg", 1, type="user_message", message="go"),
        codex_call(2, "c1", "shell", {"command": ["make"]}),
        codex_output(3, "c1", "ok"),
        codex("response_item", 4, type="message", role="assistant", content=said),
        codex_tokens(5, 100, 0, 10),
        codex("event_msg", 6, type="task_complete", last_agent_message="It works."),
    ]
    log.write_bytes(b"".join(encoded(line) + b"\n" for line in told))
    clock = Clock((seconds(told[-1]["timestamp"]) or 0.0) + 5.0)
    os.utime(log, (clock.now, clock.now))
    [row] = settle(roster(tmp_path, clock)).values()
    assert row.last == "said “It works.”"


def test_a_growing_log_is_followed(tmp_path: Path) -> None:
    log = begin(tmp_path, "api", 1, 5).write()
    clock = Clock()
    fleet = roster(tmp_path, clock)
    assert words(settle(fleet)) == {"api": "working"}
    log.at = NOW + 10
    log.call("AskUserQuestion", questions=[])
    log.write()
    clock.now = NOW + 12
    fleet.notice({log.path})
    row = settle(fleet)["api"]
    assert (row.status.word, row.status.since) == ("needs you", NOW + 10)
    log.at = NOW + 30
    log.result("blue")
    log.say()
    log.write()
    clock.now = NOW + 31
    fleet.notice(set())
    assert words(settle(fleet)) == {"api": "done"}


def test_a_restored_or_touched_log_is_as_old_as_its_own_clock_says(tmp_path: Path) -> None:
    log = begin(tmp_path, "api", 1, 277 * 86_400)
    log.call("Bash", command="make test")
    log.write()
    os.utime(log.path, (NOW - 5, NOW - 5))
    clock = Clock()
    fleet = roster(tmp_path, clock)
    before = settle(fleet)["api"]
    assert before.status.word == "ended"
    clock.now = NOW + 20
    os.utime(log.path, (NOW + 19, NOW + 19))
    fleet.notice({log.path})
    fleet.look()
    after = settle(fleet)["api"]
    assert after.status.word == "ended"
    assert after.facts.heard == before.facts.heard < NOW - 276 * 86_400


def test_lines_without_events_are_a_sign_of_life(tmp_path: Path) -> None:
    log = begin(tmp_path, "api", 1, 5)
    log.call("Bash", command="make test")
    log.write()
    clock = Clock()
    fleet = roster(tmp_path, clock)
    settle(fleet)
    clock.now = NOW + 90
    fleet.notice(set())
    assert words(settle(fleet)) == {"api": "idle"}
    with log.path.open("a") as file:
        file.write('{"type":"progress","sessionId":"x"}\n')
    os.utime(log.path, (NOW + 89, NOW + 89))
    fleet.notice(set())
    assert settle(fleet)["api"].status.level == 1


def test_silence_is_said_as_time_goes_on(tmp_path: Path) -> None:
    begin(tmp_path, "api", 1, 5).write()
    clock = Clock()
    fleet = roster(tmp_path, clock)
    seen = []
    for later in (0.0, 70.0, 400.0, 8000.0):
        clock.now = NOW + later
        seen.append(words(settle(fleet))["api"])
    assert seen == ["working", "idle", "may need you", "ended"]


def test_a_log_that_vanishes_is_said_to_be_gone(tmp_path: Path) -> None:
    log = begin(tmp_path, "api", 1, 5).write()
    fleet = roster(tmp_path)
    settle(fleet)
    log.path.unlink()
    fleet.notice({log.path})
    fleet.look()
    row = settle(fleet)["api"]
    assert (row.status.word, row.status.level) == ("unreadable", 3)


def test_new_sessions_come_and_foreign_files_are_passed_over(tmp_path: Path) -> None:
    begin(tmp_path, "api", 1, 5).write()
    fleet = roster(tmp_path)
    settle(fleet)
    other = begin(tmp_path, "web", 2, 3).write()
    fleet.notice({other.path})
    assert fleet.lacking
    assert set(settle(fleet)) == {"api", "web"}
    foreign = other.path.with_name("notes.txt")
    fleet.notice({foreign})
    assert fleet.lacking
    settle(fleet)
    fleet.notice({foreign})
    assert not fleet.lacking


def test_a_long_log_is_read_from_its_end_first_and_whole_behind_it(tmp_path: Path) -> None:
    log = begin(tmp_path, "api", 1, 5, count=400).write()
    fleet = roster(tmp_path, tail=0.05)
    fleet.look()
    (member,) = members(fleet)
    while member.due:
        member.work(50)
    first = member.row(NOW)
    assert first.partial and member.filling
    assert 10 < first.facts.events < 400
    assert first.skipped == 0
    whole = settle(fleet)["api"]
    assert not whole.partial and not member.filling
    assert whole.facts.events == 802
    assert log.path.stat().st_size > 50_000


def test_a_log_whose_end_is_one_long_line_is_read_all_the_same(tmp_path: Path) -> None:
    log = begin(tmp_path, "api", 1, 4000, count=5)
    log.call("Bash", command="cat all")
    log.result("x" * 200_000)
    log.write()
    row = settle(roster(tmp_path, tail=0.05))["api"]
    assert not row.partial
    assert row.facts.events == 14


def test_an_old_long_log_is_not_read_whole(tmp_path: Path) -> None:
    begin(tmp_path, "api", 1, 4000, count=400).write()
    row = settle(roster(tmp_path, tail=0.05))["api"]
    assert row.partial
    assert row.facts.events < 400


def test_who_rests_has_no_mind_but_wakes_with_its_log(tmp_path: Path) -> None:
    log = begin(tmp_path, "api", 1, 4000).write()
    clock = Clock()
    fleet = roster(tmp_path, clock)
    asleep = settle(fleet)["api"]
    (member,) = members(fleet)
    assert not member.awake
    assert asleep.status.word == "may need you"
    log.at = NOW + 9
    log.work(2, gap=2.0).write()
    clock.now = log.at + 1
    fleet.notice({log.path})
    awake = settle(fleet)["api"]
    assert member.awake
    assert awake.facts.events == asleep.facts.events + 4
    assert awake.status.level == 1


def test_too_many_awake_ones_are_put_to_sleep_the_quietest_first(tmp_path: Path) -> None:
    for number in range(5):
        begin(tmp_path, f"p{number}", number + 1, 5.0 + 10 * number).write()
    fleet = roster(tmp_path, awake=2)
    rows = settle(fleet)
    assert [member.found.path.parent.name for member in members(fleet) if member.awake] == ["p0", "p1"]
    assert set(rows) == {f"p{number}" for number in range(5)}


def test_one_that_cannot_be_followed_says_so_and_costs_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path, "good", 1, 5).write()
    begin(tmp_path, "bad", 2, 4).write()
    work = Member.work

    def broken(member: Member, most: int) -> None:
        if member.found.path.parent.name == "bad":
            raise KeyError("odd")
        work(member, most)

    monkeypatch.setattr(Member, "work", broken)
    rows = settle(roster(tmp_path))
    assert rows["good"].status.word == "working"
    bad = next(row for name, row in rows.items() if name != "good")
    assert (bad.status.word, bad.status.level) == ("unreadable", 3)
    assert "KeyError" in bad.why


def test_looking_at_open_calls_leaves_reading_untouched(tmp_path: Path) -> None:
    log = begin(tmp_path, "api", 1, 5)
    log.call("Bash", command="make test")
    log.write()
    kit = make_kit()
    looked, plain = Follower(log.path, kit), Follower(log.path, make_kit())
    read = [event for batch in looked.drain() for event in batch]
    assert read == [event for batch in plain.drain() for event in batch]
    kinds = [type(event).__name__ for event in looked.pending_events()]
    assert kinds.count("ToolUse") == 1
    log.result("fine")
    log.say()
    log.write()
    assert looked.poll() == plain.poll() != []
    assert kit.diagnostics.total == 0


def test_twenty_logs_that_grow_together(tmp_path: Path) -> None:
    sources = {}
    for number in range(20):
        path = tmp_path / ".claude" / "projects" / f"p{number}" / f"{number:08d}-0000-4000-8000-000000000000.jsonl"
        path.parent.mkdir(parents=True)
        sources[path] = lines(number + 1)
    clock = Clock()
    fleet = roster(tmp_path, clock)
    counts = []
    for turn in range(4):
        for path, source in sources.items():
            with path.open("ab") as file:
                file.write(b"".join(itertools.islice(source, 40)))
            os.utime(path, (NOW + turn, NOW + turn))
        clock.now = NOW + turn + 0.5
        fleet.notice(set(sources))
        rows = settle(fleet)
        counts.append(sum(row.facts.events for row in fleet.rows(clock.now)))
        assert len(fleet.rows(clock.now)) == 20
        assert all(row.status.level == 1 or row.status.word == "stuck" for row in rows.values()) or turn == 0
    assert counts == sorted(set(counts))


def test_real_sessions_of_five_agents(tmp_path: Path, shared_data: Path) -> None:
    real = shared_data / "real_sessions"
    for agent, place in (
        ("claude-code", ".claude/projects/demo"),
        ("codex", ".codex/sessions/2025/01/01"),
        ("gemini", ".gemini/tmp/demo/chats"),
        ("pi", ".pi/agent/sessions/demo"),
        ("copilot-cli", ".copilot/session-state"),
    ):
        shutil.copytree(real / agent, tmp_path / place)
    rows, _ = once(Roster(Settings(), {}, tmp_path))
    assert {row.agent for row in rows} == {"claude-code", "codex", "gemini", "pi", "copilot-cli"}
    assert len(rows) >= 18
    assert all(row.facts.events for row in rows)
    finished = {row.agent: row.status.word for row in rows if row.agent in ("pi", "copilot-cli")}
    assert finished == {"pi": "needs you", "copilot-cli": "ended"}


@pytest.fixture
def rows(tmp_path: Path) -> tuple[FleetRow, ...]:
    tell(tmp_path)
    begin(tmp_path, "asks", 20, 50).write()
    return once(roster(tmp_path))[0]


def test_sorting_filtering_and_grouping(rows: tuple[FleetRow, ...]) -> None:
    def names(order: Order) -> list[str]:
        return [item.name for item in listed(rows, order)]

    assert names(Order("project")) == sorted(row.name for row in rows)
    assert names(Order("context"))[0] == "brims"
    assert names(Order("frustration"))[0] == "circles"
    assert names(Order("recent"))[0] == "brims"
    assert names(Order("recent"))[-1] == "abandoned"
    assert {len(names(Order(sorting))) for sorting in VIEWS} == {10}
    assert names(Order(text="claude LOOPING")) == ["circles"]
    assert names(Order(text="nobody")) == []
    assert names(Order(status=2)) == ["circles"]
    assert set(names(Order(status=1))) & {"asks", "circles"} == {"asks"}
    grouped = listed(rows, Order(grouped=True))
    assert isinstance(grouped[0], Heading) and len(grouped[0].rows) == 2
    assert [item.name for item in grouped if isinstance(item, Heading)][1:] == ["other projects"]
    assert grouped[3] == Heading("other projects", ())
    assert sum(census(rows)) == 10
    assert census(rows).need == 4


def test_a_log_of_one_prompt_is_no_silence_yet(tmp_path: Path) -> None:
    log = Log(tmp_path, "api", 1, NOW - 3)
    log.prompt()
    log.write()
    assert words(settle(roster(tmp_path))) == {"api": "working"}


def test_an_empty_log_is_new(tmp_path: Path) -> None:
    log = Log(tmp_path, "api", 1, NOW - 3)
    log.write()
    row = next(iter(settle(roster(tmp_path)).values()))
    assert row.status.word == "idle"


@pytest.mark.parametrize(
    ("damage", "why"),
    [(b"", "session-1.json: ends in the middle; trying again"), (b"x}", "nothing in its log can be read (not JSON)")],
)
def test_a_log_of_which_nothing_can_be_read_is_never_called_new(tmp_path: Path, damage: bytes, why: str) -> None:
    path = tmp_path / ".gemini/tmp/abc/chats/session-1.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(gemini(3)[:-30] + damage)
    os.utime(path, (NOW - 60, NOW - 60))
    [row] = settle(roster(tmp_path)).values()
    assert (row.status.word, row.status.level) == ("unreadable", 3)
    assert row.why == why


@pytest.mark.parametrize(
    ("content", "word", "why"),
    [
        (bytes(range(256)) * 4, "unreadable", "nothing in its log can be read (a binary file)"),
        (b"\xc3\x28 no text", "unreadable", "nothing in its log can be read (a binary file)"),
        (b"some words\nand more\n", "unreadable", "nothing in its log can be read (no log of a known format)"),
        (b'{"type":"us', "idle", "no events yet"),
        ("café".encode()[:-1], "idle", "no events yet"),
        (b'{"type":"newer"}\n', "idle", "no events yet"),
        (b"", "idle", "no events yet"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_never_becomes_a_log_is_unreadable_and_not_new(
    tmp_path: Path, content: bytes, word: str, why: str
) -> None:
    log = Log(tmp_path, "api", 1, NOW - 3)
    log.write()
    log.path.write_bytes(content)
    os.utime(log.path, (NOW - 3, NOW - 3))
    [row] = settle(roster(tmp_path)).values()
    assert (row.status.word, row.why) == (word, why)


def test_no_pictures_pile_up_before_a_screen_that_hangs(tmp_path: Path) -> None:
    tell(tmp_path)
    pictures: list[tuple[FleetRow, ...]] = []
    watch = FleetWatch(roster(tmp_path), lambda rows, _: pictures.append(rows))
    for _ in range(10):
        watch._picture()
    assert len(pictures) == 4
    watch.mark_shown()
    watch._picture()
    assert len(pictures) == 5


def test_what_can_need_nobody_is_followed_only_for_the_fleet(tmp_path: Path) -> None:
    begin(tmp_path, "now", 1, 5).write()
    begin(tmp_path, "morning", 2, 3 * 3600.0).write()
    begin(tmp_path, "older", 3, 30 * 3600.0).write()
    fleet, listed_at = roster(tmp_path), {}
    for scope in ("needing", "recent", "all"):
        fleet.scope = scope
        fleet.look()
        listed_at[scope] = sorted(row.name for row in fleet.rows(NOW))
    assert listed_at == {"needing": ["now"], "recent": ["morning", "now"], "all": ["morning", "now", "older"]}


def test_of_many_sessions_the_status_is_always_new_and_the_rest_a_little_later(tmp_path: Path) -> None:
    clock = Clock()
    logs = [begin(tmp_path, f"number{number}", number, 5).write() for number in range(1, 31)]
    fleet = roster(tmp_path, clock)
    before = settle(fleet)
    asking, calling = logs[0], logs[1]
    asking.call("AskUserQuestion", questions=[])
    calling.call("Read", file_path="/work/later.py")
    asking.write(), calling.write()
    fleet.notice({asking.path, calling.path})
    rows = settle(fleet)
    assert before["number1"].status.word != rows["number1"].status.word == "needs you"
    assert rows["number2"].facts.open != before["number2"].facts.open
    assert rows["number2"].calls == before["number2"].calls
    clock.now += 0.3
    assert settle(fleet)["number2"].calls == before["number2"].calls + 1


def test_an_answer_is_judged_once_nothing_follows_it(tmp_path: Path) -> None:
    clock = Clock()
    log = begin(tmp_path, "asks", 1, 5)
    log.at = NOW
    log.say_text("Should I drop the old table?", None)
    log.write()
    fleet = roster(tmp_path, clock)
    assert settle(fleet)["asks"].facts.ending.ending == ""
    clock.now += 2.0
    assert settle(fleet)["asks"].facts.ending.ending == "question"


def test_the_last_words_are_those_that_the_status_judges(tmp_path: Path) -> None:
    """An answer whose end the log does not mark came after the person stopped another."""
    log = begin(tmp_path, "asks", 1, 5)
    log.at = NOW - 2.0
    log.interrupt()
    log.at = NOW - 1.0
    log.say_text("It is published.", None)
    log.write()
    row = settle(roster(tmp_path, Clock(NOW + 3600.0)))["asks"]
    assert (row.status.word, row.last) == ("done", "said “It is published.”")
    log.at = NOW - 0.5
    log.interrupt()
    log.write()
    row = settle(roster(tmp_path, Clock(NOW + 3600.0)))["asks"]
    assert (row.status.word, row.status.why, row.last) == ("ended", "stopped by you", "you stopped it")


def test_a_session_that_goes_on_for_days_takes_no_more_memory(tmp_path: Path) -> None:
    """What is known of calls, answers and lines is bounded; how calls were sorted is shared by all sessions."""
    log = lines(1)
    path = tmp_path / ".claude" / "projects" / "p" / "00000000-0000-4000-8000-000000000001.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(itertools.islice(log, 20)))
    fleet = roster(tmp_path)
    settle(fleet)

    def grown(count: int) -> int:
        for _ in range(count // 50):
            with path.open("ab") as file:
                file.write(b"".join(itertools.islice(log, 50)))
            fleet.notice([path])
            settle(fleet)
        gc.collect()
        return sum(1 for one in gc.get_objects() if type(one) is not Sorted)

    assert -grown(5_000) + grown(2_000) < 200
