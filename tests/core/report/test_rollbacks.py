"""Prompts that the person took back, in both forms in which Codex logs them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import AGENTS, make_kit
from core.agents.words import WordReader, word_logs
from core.engine.society import Society
from core.events import MAIN, Event, Prompt, Rollback, Where
from core.live.driver import Driver
from core.live.source import Followed
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.session import LogSession, read_session
from core.report.analysis import Gatherer
from core.report.log_tree import LogTree
from core.report.now import NowReader
from core.report.rollbacks import Rollbacks, counted
from core.report.search import fill_index, search
from core.report.story import story
from core.settings import Settings
from core.store.reading_cache import Narrowed, WordIndex
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from tests.core.agents.samples import codex, codex_meta

THREAD = "01a1f665-5a6c-73c1-a0ed-fde28fb35a71"
LATER = "01a1f665-858f-7e52-a61e-c521d1a47880"
LATEST = "01a1f666-0000-7e52-a61e-c521d1a47880"
FIRST_LOG = f"rollout-2026-11-20T00-39-59-{THREAD}.jsonl"


def _said(second: int, prompt: str, answer: str) -> list[dict[str, Any]]:
    """A turn as Codex 0.169 logs it."""
    user = {"type": "UserMessage", "id": f"u{second}", "content": [{"type": "text", "text": prompt}]}
    agent = {"type": "AgentMessage", "id": f"a{second}", "content": [{"type": "Text", "text": answer}]}
    return [
        codex("event_msg", second, type="task_started", turn_id=f"t{second}"),
        codex("event_msg", second, type="item_completed", turn_id=f"t{second}", item=user),
        codex("event_msg", second + 1, type="item_completed", turn_id=f"t{second}", item=agent),
        codex("event_msg", second + 1, type="task_complete", turn_id=f"t{second}", last_agent_message=answer),
    ]


def _rolled_back(second: int, turns: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="thread_rolled_back", num_turns=turns)


def _write(path: Path, lines: Sequence[dict[str, Any]]) -> list[int]:
    """Write a log, and return where each line begins and the last one ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [f"{json.dumps(line)}\n" for line in lines]
    path.write_text("".join(texts))
    return [sum(map(len, texts[:number])) for number in range(len(texts) + 1)]


def _session(path: Path) -> tuple[LogSession, list[Event]]:
    (session,) = sessions([path], make_kit())
    return session, list(read_session(session, make_kit()))


def _marked(tmp_path: Path, *, turns: Any = 1, more: bool = True) -> tuple[LogSession, list[Event]]:
    """A thread with the older mark: two prompts, the last `turns` taken back, and another prompt."""
    lines = [codex_meta(0, THREAD), *_said(1, "first thing", "answer one"), *_said(5, "second thing", "answer two?")]
    lines += [_rolled_back(9, turns), *(_said(11, "third thing", "answer three") if more else [])]
    _write(tmp_path / FIRST_LOG, lines)
    return _session(tmp_path / FIRST_LOG)


def _reverted(folder: Path, *, twice: bool = False) -> Path:
    """A thread with the newer form: each rollback begins another file, which names what it keeps of the one before."""
    ends = _write(
        folder / FIRST_LOG,
        [codex_meta(0, THREAD), *_said(1, "first thing", "answer one"), *_said(5, "second thing", "answer two")],
    )
    kept = {"thread_id": THREAD, "end_ordinal_exclusive": 5, "end_byte_offset": ends[5]}
    lines = [codex_meta(10, THREAD, history_base=kept), *_said(12, "second thing changed", "done")]
    later = _write(folder / f"rollout-2026-11-20T00-40-10-{THREAD}_{LATER}.jsonl", lines)
    if twice:
        kept = {"thread_id": LATER, "end_ordinal_exclusive": 6, "end_byte_offset": later[1]}
        lines = [codex_meta(20, THREAD, history_base=kept), *_said(22, "third try", "done")]
        _write(folder / f"rollout-2026-11-20T00-40-30-{THREAD}_{LATEST}.jsonl", lines)
    return folder / FIRST_LOG


def _fates(session: LogSession, events: list[Event]) -> list[tuple[str, bool]]:
    rollbacks = Rollbacks()
    rollbacks.grow(events)
    read = WordReader(word_logs(session)).words
    return [
        (read(event).said, place in rollbacks.dropped) for place, event in enumerate(events) if type(event) is Prompt
    ]


@pytest.mark.parametrize(
    ("turns", "dropped"),
    [(0, []), (1, ["second thing"]), (2, ["first thing", "second thing"]), (99, ["first thing", "second thing"])],
)
def test_as_many_prompts_are_dropped_as_the_log_says(turns: int, dropped: list[str], tmp_path: Path) -> None:
    fates = _fates(*_marked(tmp_path, turns=turns))
    assert [text for text, gone in fates if gone] == dropped
    assert [text for text, _ in fates] == ["first thing", "second thing", "third thing"]


@pytest.mark.parametrize("turns", [None, "1", -1, [], {}])
def test_a_number_that_is_none_drops_nothing(turns: Any, tmp_path: Path) -> None:
    assert not any(gone for _, gone in _fates(*_marked(tmp_path, turns=turns)))


def test_one_that_is_taken_back_before_others_stays_gone(tmp_path: Path) -> None:
    lines = [codex_meta(0, THREAD), *_said(1, "one", "a"), *_said(3, "two", "b"), _rolled_back(5, 1)]
    lines += [*_said(6, "three", "c"), _rolled_back(8, 1), *_said(9, "four", "d"), _rolled_back(11, 2)]
    _write(tmp_path / FIRST_LOG, lines)
    session, events = _session(tmp_path / FIRST_LOG)
    assert all(gone for _, gone in _fates(session, events))
    assert [event.turns for event in events if type(event) is Rollback] == [1, 1, 2]


def test_the_same_prompt_again_after_a_rollback_counts(tmp_path: Path) -> None:
    lines = [codex_meta(0, THREAD), *_said(1, "one", "a"), _rolled_back(3, 1), *_said(4, "one", "b")]
    _write(tmp_path / FIRST_LOG, lines)
    assert _fates(*_session(tmp_path / FIRST_LOG)) == [("one", True), ("one", False)]


def test_stopping_the_agent_is_not_a_prompt_that_can_be_taken_back(tmp_path: Path) -> None:
    stop = codex("event_msg", 5, type="turn_aborted", reason="interrupted")
    lines = [codex_meta(0, THREAD), *_said(1, "one", "a"), *_said(3, "two", "b")[:2], stop, _rolled_back(6, 1)]
    _write(tmp_path / FIRST_LOG, lines)
    assert _fates(*_session(tmp_path / FIRST_LOG)) == [("one", False), ("two", True), ("", False)]


def test_what_the_strip_shows_at_each_place(tmp_path: Path) -> None:
    session, events = _marked(tmp_path)
    reader = NowReader()
    reader.allow(word_logs(session))
    back = next(place for place, event in enumerate(events) if type(event) is Rollback)
    shown = [reader.now(events, index, events[index - 1].at).asked for index in (back, back + 1, len(events))]
    assert shown == ["second thing", "first thing", "third thing"]
    session, events = _marked(tmp_path, turns=2, more=False)
    reader.allow(word_logs(session))
    assert reader.now(events, len(events), events[-1].at).asked == ""


def test_recap_and_counts(tmp_path: Path) -> None:
    session, events = _marked(tmp_path)
    lines = story(events, read=WordReader(word_logs(session)).words).asked
    assert [line.partition(" ")[2] for line in lines] == [
        "“first thing”",
        "“second thing”, rolled back",
        "you rolled back 1 prompt",
        "“third thing”",
    ]
    gatherer, timeline = Gatherer(), Timeline(Settings())
    for event in events:
        gatherer.add(event, timeline.add(event))
    assert (gatherer.summary.prompts, gatherer.summary.rolled_back) == (2, 1)


@pytest.mark.parametrize(("back", "word"), [(True, "ended"), (False, "needs you")])
def test_a_question_that_was_taken_back_needs_nobody(back: bool, word: str, tmp_path: Path) -> None:
    lines = [codex_meta(0, THREAD), *_said(1, "first thing", "done"), *_said(5, "second thing", "Shall I delete it?")]
    _write(tmp_path / FIRST_LOG, [*lines, *([_rolled_back(9, 1)] if back else [])])
    settings = Settings()
    driver = Driver(Followed(tmp_path / FIRST_LOG, make_kit(), settings), InitialStates(settings))
    driver.source.look()
    assert list(driver.poll(1000))
    status = driver.status(driver.tracker.last + 30.0)
    assert status.word == word
    assert not back or status.why == "rolled back by you"


@pytest.mark.parametrize("twice", [False, True])
def test_files_after_rollbacks_are_one_session(twice: bool, tmp_path: Path) -> None:
    folder = tmp_path / ".codex/sessions/2026/11/20"
    path = _reverted(folder, twice=twice)
    (session,) = sessions([folder], make_kit())
    assert [log.path.name for log in session.logs] == sorted(one.name for one in folder.iterdir())
    events = list(read_session(session, make_kit()))
    fates = _fates(session, events)
    assert [text for text, gone in fates if gone] == ["second thing", *(["second thing changed"] if twice else [])]
    last = "third try" if twice else "second thing changed"
    assert [text for text, gone in fates if not gone] == ["first thing", last]
    assert [event.turns for event in counted(events) if type(event) is Rollback] == [1, 1][: 1 + twice]
    (found,) = find(AGENTS, {}, tmp_path, now=path.stat().st_mtime)
    assert (found.path, len(found.paths), found.title) == (path, 3 if twice else 2, "first thing")


def test_a_file_after_a_rollback_is_followed_as_soon_as_it_comes(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    path = _reverted(folder)
    (later,) = [one for one in folder.iterdir() if one != path]
    hidden = later.rename(tmp_path / later.name)
    (session,) = sessions([path], make_kit())
    follower = Follower(session, make_kit())
    events = [event for batch in follower.drain() for event in batch]
    assert not any(type(event) is Rollback for event in events)
    hidden.rename(later)
    events += [event for batch in follower.drain() for event in batch]
    events += follower.finish()
    assert events == _session(path)[1]


def test_a_file_alone_and_a_fork_are_sessions_of_their_own(tmp_path: Path) -> None:
    path = _reverted(tmp_path)
    (later,) = [one for one in tmp_path.iterdir() if one != path]
    path.unlink()
    session, events = _session(later)
    assert _fates(session, events) == [("second thing changed", False)]
    kept = {"thread_id": THREAD, "end_ordinal_exclusive": 5, "end_byte_offset": 99}
    fork = [codex_meta(0, LATER, forked_from_id=THREAD, history_base=kept), *_said(1, "other way", "done")]
    _write(tmp_path / f"rollout-2026-11-20T00-41-10-{LATER}.jsonl", fork)
    _, events = _session(tmp_path / f"rollout-2026-11-20T00-41-10-{LATER}.jsonl")
    assert not any(type(event) is Rollback for event in events)


def test_search_says_what_was_taken_back(tmp_path: Path) -> None:
    lines = [codex_meta(0, THREAD), *_said(1, "first zebra", "yes"), *_said(5, "second zebra", "grey zebra")]
    lines += [_rolled_back(9, 1), *_said(11, "third zebra", "done")]
    _write(tmp_path / "logs" / FIRST_LOG, lines)
    tree, index = LogTree(Settings(), None), WordIndex(tmp_path / "words.db")
    fill_index(index, tree, tree.sessions([tmp_path / "logs"]), lambda *_: None)
    hits = search(index, ["zebra"], Narrowed(), 10)
    fates = {hit.snippet: hit.fate for hit in hits}
    assert fates == {
        "first zebra": "",
        "second zebra": " (rolled back)",
        "grey zebra": " (rolled back)",
        "third zebra": "",
    }


def test_engines_go_on_after_it_as_if_nothing_was_there() -> None:
    society = Society(Settings())
    twin = Society(Settings())
    events: list[Event] = [
        Prompt(at=1.0, characters=9),
        Rollback(at=2.0, turns=1, kept=Where("x", 9)),
        Prompt(at=3.0, characters=9),
    ]
    for event in events:
        society.step(event)
        twin.step(event)
        kept = twin.dump()
        twin = Society(Settings())
        twin.load(kept)
    assert society.dump() == twin.dump()
    assert society.agents == (MAIN,)
