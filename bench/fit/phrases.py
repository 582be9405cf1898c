"""Phrases the lexicon is chosen from, and the choice: those that go with how runs end, in most agents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bench.fit.ridge import Floats, Ints
from core.timeline.evaluation import Bools

MOST = 40  # Phrases of both kinds together.
_LEAST = 1.5  # How many standard errors from nothing a phrase must stand, on average over the stages.
_AGREE = 0.6  # Share of the models in which it must point the same way.

# fmt: off
# Ordinary phrases of hedging, apology, trying again, checking and success; a star stands for any ending. Eighteen of
# them (`handle*`, `issue`, `documentation` and the like) were added after a look at all runs, which makes the scores a
# little too good: without them they are .633, .633, .648 and .739.
_POOL = (
    # apology and mistakes
    "sorry", "apologi*", "oops", "mistake", "wrong", "incorrect", "missed", "revert*", "undo", "my mistake",
    # hedging
    "might", "maybe", "perhaps", "seems", "likely", "probably", "possibly", "appears", "unclear",
    "assuming", "could be", "i think", "i believe", "not sure", "i assume",
    # another try
    "still", "again", "instead", "alternative", "alternatively", "previous", "unfortunately", "however",
    "let me try", "let's try", "try again", "try a different", "another approach", "different approach",
    "previous attempt",
    # thinking aloud
    "wait,", "hmm", "actually", "okay,", "but wait", "let me see", "need to find", "need to understand",
    "let's start",
    # checking
    "verif*", "confirm*", "ensure", "reproduc*", "double check", "double-check", "make sure",
    "let me check", "let's check", "run the tests", "test script", "edge case*", "existing test*",
    "let me run", "let me test", "let me verify", "git diff", "clean up",
    # claims of success
    "perfect", "great", "successfully", "works", "working", "passes", "passed", "passing", "correctly",
    "fixed", "excellent", "summary", "all tests", "as expected", "the fix", "now works",
    # understanding and plans
    "i can see", "i found", "found the", "now i understand", "looking at", "root cause", "the problem is",
    "the issue is", "first,", "next,", "finally", "now let me", "now, let's", "let me look",
    "let me create", "step by step",
    # trouble
    "fail*", "missing", "cannot", "can't", "doesn't", "didn't", "unable", "the error", "no such",
    "not found",
    # care
    "simple", "correct", "exact", "backward", "compatib*", "consistent", "similar", "related", "properly",
    "the original", "carefully", "exactly", "specifically", "important", "note that", "the key", "review",
    # more hedging, and more of another try
    "it seems", "seems that", "looks like", "should work", "hopefully", "let's assume", "let me think",
    "would", "could", "should", "try another", "different", "not work*", "did not work", "same error",
    "same issue", "still fail*", "once more", "start over", "from scratch", "workaround", "simplest", "skip*",
    "ignore*", "give up", "not possible", "already", "the same", "same result", "without",
    # how hard it is
    "complex", "difficult", "confus*", "strange", "weird", "unexpected*", "interesting", "nothing",
    "no changes", "no output", "empty", "not exist", "doesn't exist", "isn't", "hasn't", "error", "issue",
    "syntax", "indent*", "permission", "environment", "version", "install*", "import*", "path", "directory",
    # looking round
    "this means", "is responsible", "let's look", "look at", "see if", "see the", "check if", "check the",
    "explor*", "understand*", "focus*", "debug*", "documentation", "now i see", "because", "therefore",
    "since the", "so the", "but the", "but i", "multiple", "line number*",
    # what is to be done
    "need to modify", "to handle", "handle*", "to fix", "to resolve", "implement*", "we need to", "i need to",
    "i will", "i'll", "we can", "change the", "modify the", "add the", "remove the", "replace the",
    "update the", "fix the", "create a", "let's create", "let me start", "let's start by", "let me first",
    "minimal",
    # more checking, and the end
    "run the", "test the", "tests pass*", "simple test", "test case*", "test file*", "unit test*",
    "test suite", "all the tests", "all pass*", "git status", "diff", "regression*", "good", "done",
    "complete*", "resolved", "final", "in summary", "conclusion", "submit*", "finish*",
)
# fmt: on
# The same as they are looked for.
POOL = tuple(f" {phrase[:-1]}" if phrase.endswith("*") else f" {phrase} " for phrase in _POOL)


# Phrases of checking; named beforehand, because phrases chosen by how runs ended held less well on other tasks.
_CHECKING = ("verif*", "confirm*", "double check", "double-check", "make sure", "let me check", "let's check")
CHECKING = [_POOL.index(phrase) for phrase in (*_CHECKING, "run the tests", "edge case*")]


class Chosen(NamedTuple):
    """Places in the pool."""

    checking: list[int]
    doubting: list[int]


def choose(counts: dict[str, tuple[list[int], Floats]], model: Ints, failed: Bools, inside: Bools) -> Chosen:
    """The phrases of checking, and those that failing runs inside hold more often than usual for their model."""
    total = np.zeros(len(POOL))
    for places, rows in counts.values():
        keep = inside[places]
        x, y, group = np.log1p(rows[keep]), failed[places][keep].astype(float), model[places][keep]
        one_way, other_way = np.zeros(len(POOL)), np.zeros(len(POOL))
        for number in np.unique(group):
            own = group == number
            x[own] -= x[own].mean(0)
            y[own] -= y[own].mean()
            together = (x[own] * y[own][:, None]).sum(0)
            one_way += together > 1e-6
            other_way += together < -1e-6
        each = x * y[:, None]
        score = each.sum(0) / (np.sqrt((each**2).sum(0)) + 1e-9)
        agreed = np.maximum(one_way, other_way) >= _AGREE * np.maximum(1.0, one_way + other_way)
        total += np.where(agreed, score, 0.0)
    total /= len(counts)
    order = [int(place) for place in np.argsort(-np.abs(total), kind="stable") if abs(total[place]) >= _LEAST]
    kept = order[:MOST]
    return Chosen(CHECKING, [place for place in kept if total[place] > 0.0 and place not in CHECKING])
