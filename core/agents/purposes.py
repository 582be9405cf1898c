"""What a command is run for: to test, build, commit, destroy or wait."""

from __future__ import annotations

import re
from posixpath import basename

from core.events import PURPOSES, Purpose

_INTERPRETERS = frozenset(
    ("python", "pypy", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "deno", "bun", "tsx")
)
_TEST_FILE = re.compile(r"(test_.*|.*_test|.*[.-]test|.*[.-]spec|runtests|run_tests?)\.\w+$")
_MANY_GOALS = frozenset(("make", "just", "mvn", "gradle", "gradlew", "rake", "ninja"))


_ORDER: dict[Purpose, int] = {"destructive": 0, "commit": 1, "test": 2, "build": 3, "wait": 4}
_Phrase = tuple[tuple[str, ...], Purpose]
"""Further words a command must hold, and what it is for then."""


class Purposes:
    """Phrases such as `npm run test`, by program and by the word after it."""

    __slots__ = ("_any", "_named")

    def __init__(self, lists: dict[str, tuple[str, ...]]) -> None:
        self._named: dict[str, dict[str, list[_Phrase]]] = {}
        self._any: dict[str, list[_Phrase]] = {}
        for purpose in PURPOSES[1:]:
            for phrase in lists.get(purpose, ()):
                program, *rest = phrase.split()
                if rest and not rest[0].startswith("-") and rest[0] != ".":
                    named = self._named.setdefault(program, {})
                    named.setdefault(rest[0], []).append((tuple(rest[1:]), purpose))
                else:
                    self._any.setdefault(program, []).append((tuple(rest), purpose))
        for phrases in (
            *self._any.values(),
            *(found for named in self._named.values() for found in named.values()),
        ):
            phrases.sort(key=lambda phrase: (_ORDER[phrase[1]], -len(phrase[0])))

    def of(self, program: str, words: list[str]) -> Purpose:
        """The purpose of one simple command."""
        purpose = self._known(program, words)
        if purpose:
            return purpose
        if program.rstrip("0123456789.") in _INTERPRETERS:
            for at, word in enumerate(words[1:], 1):
                if not word.startswith("-"):
                    script = basename(word)
                    return "test" if _TEST_FILE.match(script) else self._known(script, words[at:])
        return "test" if "." in program and _TEST_FILE.match(program) else ""

    def _known(self, program: str, words: list[str]) -> Purpose:
        found: Purpose = ""
        named = self._named.get(program)
        if named is not None:
            for word in words[1:]:
                if word.startswith("-"):
                    continue
                for rest, purpose in named.get(word) or named.get(word.partition(":")[0]) or ():
                    if not found or _ORDER[purpose] < _ORDER[found]:
                        found = purpose if _holds(words, rest) else found
                if program not in _MANY_GOALS:
                    break
        for rest, purpose in self._any.get(program, ()):
            if (not found or _ORDER[purpose] < _ORDER[found]) and _holds(words, rest):
                found = purpose
        return found


def options_match(word: str, option: str) -> bool:
    """Whether a word gives an option, alone, with a value, or among other letters such as -rf."""
    if word == option or word.startswith(option + "="):
        return True
    if len(option) != 2 or not word.startswith("-") or word.startswith("--"):
        return False
    if option == "-i":
        return word.startswith("-i") or re.fullmatch(r"-[a-zA-Z]*i", word) is not None
    return option[1] in word and word[1:].isalpha()


def _holds(words: list[str], rest: tuple[str, ...]) -> bool:
    """Whether a command holds all these words and options."""
    for wanted in rest:
        if wanted.startswith("-"):
            if not any(options_match(word, wanted) for word in words):
                return False
        elif wanted not in words and not any(word.startswith(wanted + ":") for word in words):
            return False
    return True
