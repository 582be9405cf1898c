"""The lines of Aider's chat history: what the person typed, and what the program tells of itself."""

from __future__ import annotations

import re

STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
MODEL = re.compile(r"> (?:Main model|Model): (\S{1,120})")
FOLDER = re.compile(r"> Git working dir: (.{1,400}?)\s*\Z")
TOKENS = re.compile(
    r"> Tokens: ([\d.,]{1,12})(k|M)? sent,(?: ([\d.,]{1,12})(k|M)? cache write,)?"
    r"(?: ([\d.,]{1,12})(k|M)? cache hit,)? ([\d.,]{1,12})(k|M)? received\."
    r"(?: Cost: \$([\d.]{1,12}) (?:message|request))?"
)
DEEDS = (
    (re.compile(r"> Applied edit to (.{1,400}?)\s*\Z"), "edit", "path"),
    (re.compile(r"> Added (.{1,400}?) to the chat(?: \(read-only\))?\.?\s*\Z"), "add", "path"),
    (re.compile(r"> Running (.{1,2000}?)\s*\Z"), "run", "command"),
)
REFUSED = re.compile(r"> The LLM did not conform to the edit format")
"""The lines after it tell which block failed, and are the same failure."""
QUOTED = re.compile(
    r"The SEARCH section must exactly match|# The other \d+ SEARCH/REPLACE|Don't re-send them"
    r"|Just reply with fixed versions"
)
"""How those lines end, behind which the model's next answer stands."""
FAULT = re.compile(
    r"> (?:litellm\.(?P<name>\w{1,80}): |Model .{1,200} has hit a token limit!|\w{1,80}(?:Error|Exception): )"
)
"""An error that ends the turn, if the program does not try again; one of its own comes after a traceback."""
TRACEBACK = "> Traceback (most recent call last)"
RETRIES = "> Retrying in "
FOR_GOOD = frozenset(
    (
        *("AuthenticationError", "BadRequestError", "ContextWindowExceededError", "ImageFetchError"),
        *("NotFoundError", "PermissionDeniedError"),
    )
)
"""Errors of the service after which the program does not try again."""
WAITS = re.compile(r"> (?:You can use /undo to undo and discard|Copied code context to clipboard)")
"""What the program says before it waits for the person."""
STOPPED = "> ^C again to exit"
LEFT = "> ^C KeyboardInterrupt"
_ANSWER = re.compile(r".{1,400}\(Y\)es/\(N\)o.{0,100}\]: ?\w{0,10}\Z")
"""What the person answers to a question of the program."""
_PASSES_ON = r"(?:ask|code|architect|context|help)\s+(?=\S)"
_PASSED_ON = re.compile(f"/{_PASSES_ON}")
_COMMAND = re.compile(f"[/!](?!{_PASSES_ON})")
"""A command to the program, but for those that bring something to the model."""
_EXIT = re.compile(r"/(?:exit|quit)\Z")


def is_typed(line: str) -> bool:
    """Whether the person typed a line."""
    return line.rstrip() == "####" or line.startswith("#### ")


def typed(line: str) -> str:
    """What was typed."""
    return line[5:].rstrip()


def is_request(said: str) -> bool:
    """Whether what was typed is for the model."""
    said = said.strip()
    return bool(said) and said != "<blank>" and not _COMMAND.match(said) and not _ANSWER.match(said)


def passed_on(said: str) -> str:
    """What a command brings to the model, which the program then writes down once more."""
    said = said.strip()
    found = _PASSED_ON.match(said)
    return said[found.end() :] if found else ""


def repeats(said: str, passed: str) -> bool:
    """Whether this is what a command passed on; for one that asks for help the program adds what it found."""
    said = said.strip()
    return bool(passed) and (said == passed or said.startswith(f"# Question: {passed}\n"))


def is_exit(said: str) -> bool:
    """Whether what was typed ends the session."""
    return bool(_EXIT.match(said.strip()))
