"""What grows tenfold costs about tenfold, not a hundredfold: long commands, many logs, many copies."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from core.agents.claude_code.subagents import sub_agent_files
from core.agents.registry import make_kit
from core.events import Event, Prompt
from core.logs import finder
from core.logs.finder import sessions
from core.logs.session import LogSession, read_session
from tests.core.logs import log_lines as logs

COMMANDS: dict[str, Callable[[int], str]] = {
    "a Windows path": lambda size: "type C:" + "\\a" * (size // 2),
    "escapes": lambda size: "echo " + "\\a" * (size // 2),
    "quotes": lambda size: "echo " + "''" * (size // 2),
    "open quotes": lambda size: "echo " + '"a' * (size // 2),
    "substitutions": lambda size: "echo " + "$(" * (size // 2),
    "backticks": lambda size: "echo " + "`a" * (size // 2),
    "variables": lambda size: "echo " + "${a" * (size // 3),
    "parts": lambda size: "cd a;cat x;" * (size // 11),
    "here-documents": lambda size: "cat <<a\n" * (size // 8),
    "redirections": lambda size: "cat " + ">a" * (size // 2),
    "programs of programs": lambda size: "uv run " * (size // 7),
    "pipes": lambda size: "a|" * (size // 2),
}


def seconds(work: Callable[[], object]) -> float:
    """The least time of three, of this process alone."""
    least = []
    for _ in range(3):
        begun = time.process_time()
        work()
        least.append(time.process_time() - begun)
    return min(least)


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_long_command(kind: str) -> None:
    def sort(size: int) -> Callable[[], object]:
        arguments = json.dumps({"command": COMMANDS[kind](size)}).encode()
        return lambda: make_kit().normalizer.sort("claude-code", "Bash", arguments)

    spent = [seconds(sort(size)) for size in (1_000, 10_000, 50_000)]
    assert spent[1] < 40 * max(spent[0], 0.001), spent
    assert spent[2] < 20 * max(spent[1], 0.005), spent


def many_logs(folder: Path, number: int) -> None:
    """Sessions in one folder, every second with a sub-agent's log beside it, as older versions wrote them."""
    folder.mkdir()
    for place in range(number):
        name = f"s-{place}"
        own = {"session": name}
        (folder / f"{name}.jsonl").write_bytes(logs.prompt(place, **own) + logs.call(place + 1, name, **own))
        if place % 2:
            side = logs.call(place + 1.5, f"x{place}", isSidechain=True, agentId=f"a{place}", **own)
            (folder / f"agent-a{place}.jsonl").write_bytes(side)
    os.utime(folder, (1000, 1000))


def test_many_logs_in_one_folder(tmp_path: Path) -> None:
    spent = []
    for number in (200, 1_000):
        folder = tmp_path / f"{number}"
        many_logs(folder, number)
        spent.append(seconds(lambda place=folder: sessions([place], make_kit())))  # type: ignore[misc]
        found = sessions([folder], make_kit())
        assert len(found) == number
        assert sum(len(session.logs) for session in found) == number * 3 // 2
    assert spent[1] < 5 * 3 * spent[0], spent


def test_a_sub_agent_that_comes_later_is_found(tmp_path: Path) -> None:
    """Also where its log is empty at first, or the folder shows the same time."""
    main = tmp_path / "s-1.jsonl"
    main.write_bytes(logs.session(1))
    assert sub_agent_files(main) == []
    first, second = tmp_path / "agent-a1.jsonl", tmp_path / "agent-a2.jsonl"
    first.touch()
    assert sub_agent_files(main) == []
    line = logs.call(1.5, "x", isSidechain=True, agentId="a1")
    first.write_bytes(line)
    assert [one.path for one in sub_agent_files(main)] == [first]
    second.write_bytes(line)
    assert [one.path for one in sub_agent_files(main)] == [first, second]
    os.utime(tmp_path, (1000, 1000))
    assert [one.path for one in sub_agent_files(main)] == [first, second]
    first.unlink()
    os.utime(tmp_path, (1000, 1000))
    assert [one.path for one in sub_agent_files(main)] == [second]


def copies(folder: Path, number: int) -> list[LogSession]:
    """Sessions with one beginning, each of which goes on from another length of an earlier one."""
    folder.mkdir()
    for place in range(number):
        name = f"s-{place}"
        body = logs.session(3 + place % 7).replace(b'"s-1"', json.dumps(name).encode())
        path = folder / f"{name}.jsonl"
        path.write_bytes(body + logs.session(2, first=100 + 10 * (place // 2), session=name))
        os.utime(path, (1000 + place, 1000 + place))
    return sessions([folder], make_kit())


def told(found: list[LogSession]) -> list[list[Event]]:
    return [list(read_session(session, make_kit())) for session in found]


def test_a_large_family_of_copies_tells_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = copies(tmp_path / "a", 30)
    events = told(found)
    assert sum(isinstance(event, Prompt) for one in events for event in one) == 1 + 15
    monkeypatch.setattr(finder, "_FAMILY", 1)
    again = sessions([tmp_path / "a"], make_kit())
    assert told(again) == events
    assert max(len(session.copied) for session in again) <= 8
    assert [session.repeated for session in again if session.repeated] != []


def test_many_copies_take_memory_by_their_number(tmp_path: Path) -> None:
    grown = []
    for number in (100, 400):
        found = copies(tmp_path / f"{number}", number)
        tracemalloc.start()
        kept = sessions([tmp_path / f"{number}"], make_kit())
        grown.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert len(kept) == len(found) == number
        assert sum(len(session.copied) for session in kept) < 9 * number
    assert grown[1] < 4 * 2 * grown[0], grown
