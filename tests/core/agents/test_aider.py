"""Aider's history: who said what, what went wrong, and how its turns end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.agents.aider import AiderReader, aider_outline
from core.agents.registry import make_kit
from core.agents.words import words_of
from core.events import Event, Prompt, SessionStart, Turn, Where
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.session import LogSession, log_events, read_session
from core.report.story import Close, last_word
from core.settings import Settings
from core.settings.program import LineSettings
from tests.core.agents.samples import new_kit, uses

_FINAL = frozenset(Settings().response.notices.final)
_START = "\n# aider chat started at 2026-03-01 10:00:00\n\n> Aider v0.86.0  \n"
_ASKED = "\n#### mend the mill  \n#### and the gate  \n"
_SAID = "\nI will look.\n\nIt is mended.\n\n"
_TOKENS = "> Tokens: 2.5k sent, 300 received. Cost: $0.02 message, $0.02 session.  \n"
_EDITED = "> Applied edit to a.py  \n> Commit 0a1b2c3 fix: Mend the mill  \n"
_UNDO = "> You can use /undo to undo and discard each aider commit.  \n"
_LIMIT = "> litellm.RateLimitError: slow down  \n> The API provider has rate limited you.  \n"
_RETRY = "> Retrying in 0.2 seconds...  \n"
_BAD = "> litellm.BadRequestError: no such model  \n"
_TRACE = "> Traceback (most recent call last):  \n> yield from self.send()  \n> TypeError: not a float  \n"
_STOP = ">  \n>  \n> ^C again to exit  \n"
_LEFT = ">  \n>  \n> ^C KeyboardInterrupt  \n"


AIDER = b"""
# aider chat started at 2026-03-01 10:00:00

> Aider v0.86.0
> Model: gpt-5 with diff edit format
> Git working dir: /home/ada/mill
> Added a.py to the chat.

#### mend the mill
#### and the gate

I will.

> Tokens: 2.5k sent, 1.2k cache hit, 300 received. Cost: $0.02 message, $0.02 session.
> Applied edit to /home/ada/mill/a.py
> Running make test

#### again

> The LLM did not conform to the edit format.

# aider chat started at 2026-03-02 08:00:00

> Aider v0.86.0

# aider chat started at 2026-03-02 09:00:00

#### hello
"""


def _of(kind: type[Event], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_the_story(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_bytes(AIDER)
    kit = make_kit()
    first, second = sessions([path], kit)
    assert (first.id, second.id) == ("2026-03-01T10-00-00", "2026-03-02T09-00-00")
    events = list(log_events(first.logs[0], kit, LineSettings()))
    [start] = _of(SessionStart, events)
    assert start.synthetic_time
    assert [prompt.characters for prompt in _of(Prompt, events)] == [len("mend the mill\nand the gate"), 5]
    assert [(use.tool, use.targets, use.outcome) for use in uses(events)] == [
        ("add", ("a.py",), "success"),
        ("edit", ("a.py",), "success"),
        ("run", (), "pending"),
        ("edit", (), "failure"),
    ]
    [turn] = _of(Turn, events)
    assert (turn.input_tokens, turn.cache_read, turn.output_tokens, turn.cost) == (1300, 1200, 300, 0.02)
    assert len(_of(Prompt, list(log_events(second.logs[0], kit, LineSettings())))) == 1
    assert kit.diagnostics.total == 0


def test_a_line_of_json_is_read_when_it_has_ended(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    told = f"{_START}{_ASKED}\n"
    path.write_text(told + '{"a": 1}')
    kit = make_kit()
    session = sessions([path], kit)[0]
    follower = Follower(session, kit)
    events = follower.poll()
    path.write_text(told + '{"a": 1}# aider chat started at 2026-03-02 08:00:00\n' + _TOKENS)
    events += [*follower.poll(), *follower.finish()]
    assert events == list(read_session(session, kit))
    assert len(_of(SessionStart, events)) == 1


def test_a_prompt_that_is_the_last_line_is_not_lost() -> None:
    reader = AiderReader(new_kit())
    for number, line in enumerate(AIDER.splitlines(), 1):
        reader.feed(line, Where("log", number * 100, 10), number)
    assert len(_of(Prompt, reader.pending_events())) == 1
    assert len(_of(Prompt, reader.pending_events())) == 1
    assert len(_of(Prompt, reader.finish())) == 1


def _sessions(tmp_path: Path, text: str) -> list[LogSession]:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(text)
    return sessions([path], make_kit())


def _events(tmp_path: Path, text: str) -> list[Event]:
    [session] = _sessions(tmp_path, text)
    return list(read_session(session, make_kit()))


def _fed(reader: AiderReader, text: str) -> list[Event]:
    found: list[Event] = []
    offset = 0
    for number, line in enumerate(text.encode().splitlines(keepends=True), 1):
        found += reader.feed(line, Where("log", offset, len(line)), number)
        offset += len(line)
    return found


def _turns(events: list[Event]) -> list[Turn]:
    return [event for event in events if isinstance(event, Turn)]


def test_who_said_what(tmp_path: Path) -> None:
    events = _events(tmp_path, _START + _ASKED + _SAID + _TOKENS)
    [prompt] = [event for event in events if isinstance(event, Prompt)]
    [turn] = _turns(events)
    assert words_of(prompt).said == "mend the mill\nand the gate"
    assert words_of(turn).said == "I will look.\n\nIt is mended."
    assert (turn.output_tokens, prompt.characters) == (300, 26)


@pytest.mark.parametrize(
    ("then", "close", "said"),
    [
        ("", "asked", []),
        (_SAID, "said", ["I will look.\n\nIt is mended."]),
        (_SAID + _TOKENS, "said", ["I will look.\n\nIt is mended."]),
        (_SAID + _TOKENS + _EDITED, "tool", ["I will look.\n\nIt is mended."]),
        (_SAID + _TOKENS + _EDITED + _UNDO, "done", ["I will look.\n\nIt is mended.", ""]),
        (_SAID + _TOKENS + _STOP, "said", ["I will look.\n\nIt is mended."]),
        (_BAD, "failed", ["litellm.BadRequestError: no such model"]),
        (_LIMIT, "failed", ["litellm.RateLimitError: slow down"]),
        (_LIMIT + _RETRY, "asked", []),
        (_LIMIT + _RETRY + _LIMIT, "failed", ["litellm.RateLimitError: slow down"]),
        (_LIMIT + _RETRY + "\nMended.\n", "said", ["Mended."]),
        (_LIMIT + _RETRY + _STOP, "stopped", []),
        ("> Model gpt-5 has hit a token limit!  \n", "failed", ["Model gpt-5 has hit a token limit!"]),
        ("\nMended.\n\n" + _TRACE, "failed", ["Mended.", "TypeError: not a float"]),
        ("> TypeError: that is what the tests print  \n", "asked", []),
        ("\nI am at\n" + _STOP, "stopped", ["I am at"]),
        (_BAD + _STOP + _LEFT, "ended", ["litellm.BadRequestError: no such model"]),
        (_SAID + _TOKENS + "\n#### /exit  \n", "ended", ["I will look.\n\nIt is mended."]),
    ],
)
def test_how_a_turn_ends(tmp_path: Path, then: str, close: Close, said: list[str]) -> None:
    events = _events(tmp_path, _START + _ASKED + then)
    assert last_word(reversed(events), _FINAL).close == close
    assert [words_of(turn).said for turn in _turns(events)] == said


def test_an_error_is_told_when_it_is_written() -> None:
    """One that may be tried again is held until it is not."""
    assert _turns(_fed(AiderReader(new_kit()), _START + _ASKED + _BAD))
    reader = AiderReader(new_kit())
    assert not _turns(_fed(reader, _START + _ASKED + _LIMIT))
    assert [turn.stop for turn in _turns(reader.pending_events())] == ["error"]
    assert [turn.stop for turn in _turns(reader.finish())] == ["error"]


def test_an_answer_is_held_until_it_is_counted() -> None:
    reader = AiderReader(new_kit())
    assert not _turns(_fed(reader, _START + _ASKED + _SAID))
    [held] = _turns(reader.pending_events())
    assert (held.said is not None, held.cost) == (True, None)


@pytest.mark.parametrize(
    "typed",
    ["/undo", "/add a.py", "!make", "<blank>", "Add file to the chat? (Y)es/(N)o/(A)ll/(D)on't ask again [Yes]: all"],
)
def test_what_is_typed_for_the_program_is_no_prompt(tmp_path: Path, typed: str) -> None:
    """Nor is it what a session is about."""
    text = f"{_START}\n#### {typed}  \n{_ASKED}"
    assert sum(isinstance(event, Prompt) for event in _events(tmp_path, text)) == 1
    assert aider_outline(text.encode()).request == "mend the mill"


def test_a_command_that_asks_the_model_is_a_prompt(tmp_path: Path) -> None:
    events = _events(tmp_path, f"{_START}\n#### /ask what is this  \n")
    assert [words_of(event).said for event in events if isinstance(event, Prompt)] == ["/ask what is this"]


def test_a_start_that_was_left_at_once_is_no_session(tmp_path: Path) -> None:
    again = _START.replace("10:00", "11:00")
    assert [one.id for one in _sessions(tmp_path, _START + _STOP + _LEFT + again + _ASKED)] == ["2026-03-01T11-00-00"]


def test_what_is_quoted_to_the_model_is_not_its_answer(tmp_path: Path) -> None:
    refused = (
        "> The LLM did not conform to the edit format.  \n> # 1 SEARCH/REPLACE block failed to match!\n\n"
        "## SearchReplaceNoExactMatch: This SEARCH block failed\n"
        "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n\n"
        "The SEARCH section must exactly match an existing block of lines\n\n"
        "# The other 1 SEARCH/REPLACE block were applied successfully.\nDon't re-send them.\n"
        "Just reply with fixed versions of the block above that failed to match.  \n"
    )
    text = _START + _ASKED + _SAID + _TOKENS + refused + "\nYou are right.\n\n" + _TOKENS
    events = _events(tmp_path, text)
    assert [words_of(turn).said for turn in _turns(events)][1:] == ["You are right."]
    [use] = uses(events)
    assert words_of(use).output == "The LLM did not conform to the edit format."


def test_thoughts_are_not_said(tmp_path: Path) -> None:
    tag = "thinking-content-7bbe"
    events = _events(tmp_path, f"{_START}{_ASKED}\n<{tag}>\nHm.\n</{tag}>\n\nYes.\n\n{_TOKENS}")
    assert [words_of(turn).said for turn in _turns(events)] == ["Yes."]


@pytest.mark.parametrize("cost", ["$.", "$0.1.2", "$"])
def test_a_cost_that_is_no_number_costs_no_answer(tmp_path: Path, cost: str) -> None:
    told = f"> Tokens: 2.5k sent, 300 received. Cost: {cost} message, {cost} session.  \n"
    [turn] = _turns(_events(tmp_path, _START + _ASKED + _SAID + told))
    assert turn.output_tokens == 300


_HEADED = "\nIt has two parts.\n\n#### The wheel\n\nIt turns.\n#### The gate\n#### Its lock\nIt shuts.\n\n"
_ABOUT = "> Aider v0.86.0  \n> Model: gpt-5 with diff edit format  \n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_heading_of_the_model_is_no_prompt(tmp_path: Path, newline: str) -> None:
    text = _START + _ABOUT + _ASKED + _HEADED + _TOKENS + _ASKED
    path = tmp_path / ".aider.chat.history.md"
    path.write_bytes(text.replace("\n", newline).encode())
    [session] = sessions([path], make_kit())
    events = list(read_session(session, make_kit()))
    assert [type(event).__name__ for event in events] == ["SessionStart", "Prompt", "Turn", "Prompt"]
    assert words_of(events[2]).said.replace("\r", "") == _HEADED.strip()


def test_without_blanks_behind_its_lines_every_such_line_is_a_prompt(tmp_path: Path) -> None:
    text = (_START + _ABOUT + _ASKED + _SAID + _TOKENS + _ASKED).replace("  \n", "\n")
    assert sum(isinstance(event, Prompt) for event in _events(tmp_path, text)) == 2
    [_, tidied] = _sessions(tmp_path, _START + _ABOUT + _ASKED + text.replace("10:00", "11:00"))
    assert sum(isinstance(event, Prompt) for event in read_session(tidied, make_kit())) == 2


@pytest.mark.parametrize(
    "again",
    [
        "#### what is this  \n",
        "> Warning: many files  \n\n#### what is this  \n",
        "#### # Question: what is this  \n####   \n#### # Relevant docs:  \n",
        "",
    ],
)
@pytest.mark.parametrize("command", ["ask", "code", "architect", "context", "help"])
def test_what_a_command_passes_on_is_asked_once(tmp_path: Path, command: str, again: str) -> None:
    text = f"{_START}\n#### /{command} what is this  \n\n{again}{_SAID}{_TOKENS}\n#### what is this  \n"
    events = _events(tmp_path, text)
    said = [words_of(event).said for event in events if isinstance(event, Prompt)]
    assert said == [f"/{command} what is this", "what is this"]


def test_an_answer_and_the_prompt_after_it_are_held_together() -> None:
    reader = AiderReader(new_kit())
    assert not _turns(_fed(reader, _START + _ASKED + _SAID + _ASKED))
    assert [type(event).__name__ for event in reader.pending_events()] == ["Turn", "Prompt"]


def test_older_versions_tell_the_cost_of_a_request(tmp_path: Path) -> None:
    told = _TOKENS.replace("message", "request")
    [turn] = _turns(_events(tmp_path, _START + _ASKED + _SAID + told))
    assert turn.cost == 0.02
