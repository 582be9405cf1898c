"""What a command is run for: to test, build, commit, destroy or wait."""

from __future__ import annotations

import re
from posixpath import basename

from core.events import PURPOSES, Purpose

_INTERPRETERS = re.compile(r"(python|pypy|node|ruby|perl|php|bash|sh|zsh|deno|bun|tsx|ts-node)[\d.]*$")
_TEST_FILE = re.compile(r"(test_.*|.*_test|.*[.-]test|.*[.-]spec|runtests|run_tests?)\.\w+$")
_MANY_GOALS = frozenset(("make", "just", "mvn", "gradle", "gradlew", "rake", "ninja"))


class Purposes:
    """Phrases such as `npm run test`, by the program they begin with."""

    __slots__ = ("_phrases",)

    def __init__(self, lists: dict[str, tuple[str, ...]]) -> None:
        self._phrases: dict[str, list[tuple[tuple[str, ...], Purpose]]] = {}
        for purpose in PURPOSES:
            for phrase in lists.get(purpose, ()):
                first, *rest = phrase.split()
                self._phrases.setdefault(first, []).append((tuple(rest), purpose))
        order = {"destructive": 0, "commit": 1, "test": 2, "build": 3, "wait": 4}
        for phrases in self._phrases.values():
            phrases.sort(key=lambda phrase: (order[phrase[1]], -len(phrase[0])))

    def of(self, program: str, words: list[str]) -> Purpose:
        """The purpose of one simple command."""
        phrases = self._phrases.get(program)
        if phrases:
            for rest, purpose in phrases:
                if _matches(rest, words, program):
                    return purpose
        if _INTERPRETERS.match(program):
            for at, word in enumerate(words[1:], 1):
                if not word.startswith("-"):
                    script = basename(word)
                    return "test" if _TEST_FILE.match(script) else self._script(script, words[at:])
        return "test" if _TEST_FILE.match(program) else ""

    def _script(self, script: str, words: list[str]) -> Purpose:
        for rest, purpose in self._phrases.get(script, ()):
            if _matches(rest, words, script):
                return purpose
        return ""


def options_match(word: str, option: str) -> bool:
    """Whether a word gives an option, alone, with a value, or among other letters such as -rf."""
    if word == option or word.startswith(option + "="):
        return True
    if len(option) != 2 or not word.startswith("-") or word.startswith("--"):
        return False
    if option == "-i":
        return word.startswith("-i") or re.fullmatch(r"-[a-zA-Z]*i", word) is not None
    return option[1] in word and word[1:].isalpha()


def _matches(rest: tuple[str, ...], words: list[str], program: str) -> bool:
    if not rest:
        return True
    if not rest[0].startswith("-") and rest[0] != ".":
        named = [word for word in words[1:] if not word.startswith("-")]
        goals = named if program in _MANY_GOALS else named[:1]
        if not any(word == rest[0] or word.startswith(rest[0] + ":") for word in goals):
            return False
        rest = rest[1:]
    return all(
        any(
            options_match(word, wanted)
            if wanted.startswith("-")
            else word == wanted or word.startswith(wanted + ":")
            for word in words[1:]
        )
        for wanted in rest
    )
