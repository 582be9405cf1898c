"""Two runs aligned by what they did."""

from __future__ import annotations

import time

import pytest

from core.agents.words import Words
from core.events import Event, Prompt, ToolUse
from core.report.compare import align, moves, parting_words


def run(letters: str) -> list[Event]:
    """A run whose moves are letters; `?` is the prompt."""
    return [
        Prompt(at=float(n), characters=1, call=7)
        if letter == "?"
        else ToolUse(at=float(n), action="file_read", targets=(letter,))
        for n, letter in enumerate(letters)
    ]


@pytest.mark.parametrize(
    ("first", "second", "same", "parts", "pairs"),
    [
        ("?abc", "?abc", 4, None, 4),
        ("?abc", "?ab", 3, None, 3),
        ("?abcd", "?xbcd", 1, (1, 1), 4),
        ("?abcd", "?bcad", 1, (1, 1), 4),
        ("abc", "xyz", 0, (0, 0), 0),
        ("aabbaabb", "abababab", 1, (1, 1), 6),
        ("", "abc", 0, None, 0),
    ],
)
def test_aligns(first: str, second: str, same: int, parts: tuple[int, int] | None, pairs: int) -> None:
    one, other = run(first), run(second)
    alignment = align(moves(one), moves(other))
    assert (alignment.same, alignment.parts, len(alignment.pairs)) == (same, parts, pairs)
    assert all(first[a] == second[b] for a, b in alignment.pairs)
    assert list(alignment.pairs) == sorted(alignment.pairs)
    assert len({b for _, b in alignment.pairs}) == len(alignment.pairs)


def test_paths_and_spaces_of_another_agent_do_not_part_runs() -> None:
    first: list[Event] = [Prompt(at=0.0, characters=1, call=1), *run("ab")]
    second: list[Event] = [Prompt(at=0.0, characters=1, call=2)]
    second += [ToolUse(at=1.0, action="file_read", targets=(f"/home/me/p/{name}",)) for name in "ab"]
    texts = {1: "do:\n - this", 2: "do:\n\t-\tthis"}

    def read(event: Event) -> Words:
        return Words(said=texts[event.call] if isinstance(event, Prompt) else "")

    assert align(moves(first, read), moves(second, read)).same == 3
    assert align(moves(first), moves(second)).same == 0


def test_a_partner_is_never_ahead_of_the_last_pair() -> None:
    alignment = align(moves(run("?abcd")), moves(run("?axxbcd")))
    assert [alignment.partner(place, first=True) for place in range(6)] == [0, 1, 2, 5, 6, 7]
    assert [alignment.partner(place, first=False) for place in range(8)] == [0, 1, 2, 2, 2, 3, 4, 5]


@pytest.mark.parametrize("names", [3, 50, 100_000])
def test_ten_thousand_events_in_under_a_second(names: int) -> None:
    first: list[Event] = [
        ToolUse(at=float(n), action="file_read", targets=(str(n * 7919 % names),)) for n in range(10_000)
    ]
    second: list[Event] = [
        ToolUse(at=float(n), action="file_read", targets=(str((n + n // 50) * 7919 % names),)) for n in range(10_000)
    ]
    started = time.process_time()
    alignment = align(moves(first), moves(second))
    assert time.process_time() - started < 1.0
    assert alignment.same == 50


def test_runs_that_differ_from_the_start_may_still_have_counterparts() -> None:
    first, second = run("xabcd"), run("yabcd")
    words = parting_words(align(moves(first), moves(second)), first, second)
    assert words.startswith("no step in common at the start: event 1 of A ")
    assert words.endswith("80% of all steps have a counterpart")
