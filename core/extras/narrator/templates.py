"""Prose without a model: sentences made from facts, each with the events it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.extras.narrator.facts import Fact


class Claim(NamedTuple):
    """One sentence and the numbers of the events it rests on."""

    words: str
    events: tuple[int, ...]

    @property
    def line(self) -> str:
        """With its events cited."""
        cited = ", ".join(map(str, self.events))
        return f"{self.words} [{cited}]"


def told_recap(facts: Sequence[Fact]) -> list[Claim]:
    """A stretch of a session: what was asked, what came of it, how it stands."""
    claims: list[Claim] = []
    edited = [fact for fact in facts if fact.kind == "edited"][:6]
    for kinds, most in ((("asked",), 3), (("edited",), 0), (("failed",), 3), (("solved",), 3), (_TURNS, 4)):
        if kinds == ("edited",) and edited:
            words = ", ".join(fact.words.replace(" was changed", "") for fact in edited)
            claims.append(Claim(f"Files were changed: {words}.", tuple(fact.number for fact in edited)))
        elif most:
            claims += _each([fact for fact in facts if fact.kind in kinds][-most:])
    claims += _each([fact for fact in facts if fact.kind in ("said", "ended")][-1:])
    return claims or [Claim("Nothing happened.", ())]


_TURNS = ("unsolved", "halt", "compacted", "passed", "stuck")


def _each(facts: Iterable[Fact]) -> list[Claim]:
    """A claim for each; the same words are said once, with all their events."""
    said: dict[str, list[int]] = {}
    for fact in facts:
        said.setdefault(_sentence(fact), []).append(fact.number)
    return [Claim(words, tuple(numbers)) for words, numbers in said.items()]


def told_why(facts: Sequence[Fact]) -> list[Claim]:
    """Why a session is stuck, the weightiest reason first; where nothing speaks for it, that is said."""
    by_kind: dict[str, list[Fact]] = {}
    for fact in facts:
        by_kind.setdefault(fact.kind, []).append(fact)

    def of(kind: str) -> list[Fact]:
        return by_kind.get(kind, [])

    failing = sorted(of("failed"), key=lambda fact: -fact.number)
    standing = (*of("loop"), *of("halt"), *of("open"))
    claims = _each((*standing, *failing[:3], *of("unsolved")[-1:], *of("rate"), *of("context")))
    if failing and not of("passed"):
        words = "No test, build or commit has passed since it was last asked for something."
        claims.append(Claim(words, (failing[0].number,)))
    return [*_verdict(by_kind, bool(claims)), *claims] or [Claim("Nothing has happened yet.", ())]


def _verdict(by_kind: Mapping[str, Sequence[Fact]], reasons: bool) -> list[Claim]:
    """Whether it is stuck, before the reasons; one at rest is not, whatever went wrong before.

    That it waits for the person comes before all else.
    """
    if needs := by_kind.get("needs"):
        return _each(needs)
    stands = (by_kind.get("rest") or by_kind.get("state") or [])[-1:]
    if not stands:
        return []
    words, number = stands[0].words, stands[0].number
    if not reasons:
        return [Claim(f"Nothing in the log speaks for being stuck; {words}.", (number,))]
    if stands[0].kind == "rest":
        return _each(stands)
    if "stuck" in words or any(by_kind.get(kind) for kind in ("loop", "halt", "unsolved")):
        return []
    doubtful = any(by_kind.get(kind) for kind in ("open", "rate", "context"))
    may = "may be" if doubtful else "does not look"
    return [Claim(f"It {may} stuck; {words}.", (number,))]


def _sentence(fact: Fact) -> str:
    named = fact.kind in ("failed", "solved", "unsolved")
    said = fact.words if named else fact.words[:1].upper() + fact.words[1:]
    return said if said.endswith((".", "!", "?", '"')) else f"{said}."


def lines_of(claims: Iterable[Claim]) -> list[str]:
    """Each claim as a line, its events cited."""
    return [claim.line if claim.events else claim.words for claim in claims]
