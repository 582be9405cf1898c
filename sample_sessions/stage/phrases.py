"""The scenario language, large words: stretches of work that follow one pattern."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor

_LOOKING = (
    "Let me see how {noun}s are handled here.",
    "I'll read the part that deals with the {other}.",
    "",
    "Next, where the {noun} comes from.",
    "",
)
_MAKING = (
    "Now the {noun} itself.",
    "",
    "This needs the {other} as well.",
    "",
    "I'll keep the {noun} and its {other} apart.",
    "",
)
_CHECKING = ("Running the tests.", "", "Let me check that this holds.", "")


def explore(actor: Actor, paths: tuple[str, ...], patterns: tuple[str, ...] = ()) -> None:
    """Look around: search for a pattern, then read what it led to."""
    world, dice = actor.world, actor.dice
    for place, path in enumerate(paths):
        if place < len(patterns):
            actor.search(patterns[place], *paths[place : place + 3], thought=world.words(dice.pick(_LOOKING), dice))
        actor.read(path, thought=world.words(dice.pick(_LOOKING), dice))


def implement(actor: Actor, paths: tuple[str, ...], rounds: int, *, passed: int, edits: int = 2, only: str = "") -> int:
    """Edit and test, and all goes well; the number of tests that pass in the end."""
    world, dice = actor.world, actor.dice
    for turn in range(rounds):
        for step in range(edits):
            actor.edit(paths[(turn * edits + step) % len(paths)], thought=world.words(dice.pick(_MAKING), dice))
        passed += dice.below(3)
        actor.test(passed, only=only, thought=dice.pick(_CHECKING))
    return passed


def wander(actor: Actor, paths: tuple[str, ...], missing: tuple[str, ...]) -> None:
    """Read one thing after another, and search for words that are nowhere."""
    world, dice = actor.world, actor.dice
    for place, path in enumerate(paths):
        actor.read(path, thought=world.words(dice.pick(_LOOKING), dice))
        if place < len(missing):
            actor.search(missing[place], thought=world.words(dice.pick(_LOOKING), dice))
