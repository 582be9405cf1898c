"""The read-out: too early, worse, usual or better, with reasons in words."""

from __future__ import annotations

import re
from math import log1p
from typing import Any

import pytest
from msgspec.structs import replace

from core.engine.receptor.facts import ActionFacts
from core.engine.receptor.readings import FactsReading
from core.engine.response.outlook import Stage, chance, outlook, shift_of, stage_fit, stage_of
from core.settings.receptor import FactSettings
from core.settings.response import OutlookSettings

NOTHING = ActionFacts(FactSettings()).read()


def facts(**figures: int) -> FactsReading:
    changed: Any = replace(NOTHING, **figures)
    assert isinstance(changed, FactsReading)
    return changed


@pytest.mark.parametrize(
    ("actions", "ended", "stage"),
    [
        (0, True, "too early"),
        (9, False, "too early"),
        (10, False, "10"),
        (14, False, "10"),
        (15, False, "15"),
        (19, False, "15"),
        (20, False, "20"),
        (300, False, "20"),
        (1, True, "end"),
    ],
)
def test_which_weights_hold(actions: int, ended: bool, stage: Stage) -> None:
    assert stage_of(actions, ended) == stage


def test_before_ten_actions_nothing_is_said() -> None:
    early = outlook(facts(actions=9), False, OutlookSettings(base_rate=0.5))
    assert (early.direction, early.chance, early.reasons) == ("too early", None, ())
    assert early.sentences_beside("") == ("too early to say",)


def test_a_run_that_checks_its_edits_goes_better_than_one_that_gets_nowhere() -> None:
    checked = facts(actions=20, looks=8, tests=4, changes=4, changed_files=2, runs_since_change=8)
    lost = facts(actions=20, looks=20, new_files=18, since_good_edit=20, since_change=20, words_of_doubt=9)
    fit = stage_fit("20", OutlookSettings())
    assert shift_of(checked, fit) < shift_of(lost, fit)
    worse = outlook(lost, False, OutlookSettings())
    assert worse.direction == "worse"
    assert worse.reasons[0].amount == max(reason.amount for reason in worse.reasons)
    assert any(reason.text.endswith(": worse") for reason in worse.reasons)
    assert worse.sentences_beside("")[0] == "worse than usual"
    assert worse.sentences_beside("")[-1].endswith("log-odds of going wrong")
    assert not any("log-odds" in sentence for sentence in worse.sentences_beside("")[:-1])


def test_no_reason_goes_against_plain_sense() -> None:
    quiet = outlook(facts(actions=20), False, OutlookSettings(telling=0.0))
    told = {reason.name: reason.text for reason in quiet.reasons}
    assert "failures" not in told and "failed_edits" not in told
    assert told["words_of_doubt"] == "no phrases of doubt, fewer than usual: better"
    assert told["words_of_checking"] == "no phrases of checking, fewer than usual: worse"
    assert "changes" not in told and told["runs_since_change"].endswith("fewer than usual: worse")
    busy = outlook(facts(actions=20, changes=40), False, OutlookSettings(telling=0.0))
    assert any(reason.text == "40 edits of existing files, more than usual: worse" for reason in busy.reasons)
    failing = outlook(facts(actions=20, failures=15, failed_edits=9), False, OutlookSettings(telling=0.0))
    assert not any(reason.name in ("failures", "failed_edits") for reason in failing.reasons)
    doubtful = outlook(facts(actions=20, words_of_doubt=40), False, OutlookSettings())
    assert doubtful.reasons[0].text == "40 phrases of doubt, more than usual: worse"


def test_a_long_run_is_judged_by_its_pace() -> None:
    """Ten times the counts in ten times the actions say the same; counts that do not grow are left alone."""
    short = facts(actions=20, failures=2, tests=3, new_files=6, words_of_doubt=4, since_change=5)
    long = facts(actions=200, failures=20, tests=30, new_files=60, words_of_doubt=40, since_change=5)
    fit = stage_fit("20", OutlookSettings())
    assert shift_of(long, fit) == pytest.approx(shift_of(short, fit))
    assert shift_of(replace(long, since_change=50), fit) != shift_of(long, fit)
    reasons = outlook(long, False, OutlookSettings(telling=0.0)).reasons
    texts = {reason.name: reason.text for reason in reasons}
    assert texts["words_of_doubt"].startswith("40 phrases of doubt, ")
    assert texts["words_of_doubt"].rpartition(": ")[0].endswith("than usual for its length")
    at_pace = outlook(short, False, OutlookSettings(telling=0.0)).reasons
    assert not any("length" in reason.text for reason in at_pace)


def test_silence_alone_is_no_good_news() -> None:
    """An agent that says little has few words of doubt, which says nothing about its work."""
    settings = OutlookSettings(telling=0.0)
    usual = facts(actions=20, looks=10, new_files=7, failures=3, since_good_edit=2, since_change=3, edits_recent=3)
    quiet = outlook(usual, False, settings)
    (doubt,) = [reason.amount for reason in quiet.reasons if reason.name == "words_of_doubt"]
    assert doubt < -settings.usual and quiet.shift < -settings.usual
    assert quiet.direction == "usual"
    own = OutlookSettings(own_shift=quiet.shift + settings.usual + 0.01)
    assert outlook(usual, False, own).direction == "better", "the agent's own usual knows how much it says"
    worse = OutlookSettings(own_shift=quiet.shift - settings.usual - 0.01)
    assert outlook(usual, False, worse).direction == "worse"


def test_names_of_the_prompt_that_come_up_speak_for_a_run() -> None:
    settings = OutlookSettings(telling=0.0)
    run = facts(actions=20, looks=10, new_files=7, failures=3, since_good_edit=2, since_change=3, edits_recent=3)
    unknown, none, most = (
        outlook(replace(run, names_asked=asked, names_seen=seen), False, settings)
        for asked, seen in ((0, 0), (20, 0), (20, 18))
    )
    assert most.shift < unknown.shift < none.shift
    assert abs(unknown.shift - outlook(replace(run, names_asked=4, names_seen=2), False, settings).shift) < 0.1
    texts = [reason.text for reason in none.reasons]
    assert "no of 20 names in the prompt came up, fewer than usual: worse" in texts
    assert "18 of 20 names in the prompt came up, more than usual: better" in [one.text for one in most.reasons]
    assert not any("names" in reason.text for reason in unknown.reasons)


def test_names_that_come_up_are_no_good_news_by_themselves() -> None:
    """People differ in what they name, which says nothing about the agent's work."""
    run = facts(actions=20, looks=10, new_files=7, failures=3, since_good_edit=2, since_change=3, words_of_doubt=9)
    named = replace(run, names_asked=60, names_seen=60)
    plain, better = (outlook(one, False, OutlookSettings()) for one in (run, named))
    assert plain.direction == "usual" and better.shift < -OutlookSettings().usual
    assert better.direction == "usual"
    own = OutlookSettings(own_shift=better.shift + OutlookSettings().usual + 0.01)
    assert outlook(named, False, own).direction == "better", "the agent's own usual knows what is named"


def test_a_chance_needs_a_base_rate() -> None:
    assert chance(1.0, 0.0) is None
    assert chance(0.0, 0.3) == pytest.approx(0.3)
    known = outlook(facts(actions=12), False, OutlookSettings(base_rate=0.3))
    assert known.chance is not None
    assert f"{100 * known.chance:.0f}% of such runs go wrong" == known.sentences_beside("")[1]
    assert "%" not in "".join(outlook(facts(actions=12), False, OutlookSettings()).sentences_beside(""))


@pytest.mark.parametrize("off", [-0.001, 0.001])
def test_at_the_bound_of_what_is_usual(off: float) -> None:
    shift = outlook(facts(actions=12), False, OutlookSettings(usual=0)).shift
    told = outlook(facts(actions=12), False, OutlookSettings(usual=0.5, own_shift=shift - 0.5 - off))
    assert told.direction == ("worse" if off > 0 else "usual")


def test_at_most_twenty_counts_a_stage_and_what_it_was_fitted_on() -> None:
    from core.engine.response.outlook import _fits

    stages, fitted_on = _fits()
    assert set(stages) == {"10", "15", "20", "end"}
    assert all(len(fit.names) <= 20 for fit in stages.values())
    assert re.fullmatch(r"[\d,]+ repairs of Python projects by \d+ models, \d{4}-\d\d-\d\d", fitted_on)


def test_the_weights_of_a_persons_labels_are_added_to_the_shipped_ones() -> None:
    run = facts(actions=20, looks=8, tests=4)
    shipped = outlook(run, False, OutlookSettings())
    own = outlook(run, False, OutlookSettings(weights={"20": {"tests": 0.5, "usual": 0.25}}))
    mean = dict(zip(stage_fit("20", OutlookSettings()).names, stage_fit("20", OutlookSettings()).means, strict=True))
    assert own.shift == pytest.approx(shipped.shift + 0.5 * (log1p(4) - mean["tests"]) - 0.25)
    assert own.fitted_on == f"{shipped.fitted_on} and from your labels"
    other_stage = outlook(run, False, OutlookSettings(weights={"10": {"tests": 0.5}}))
    assert other_stage.shift == shipped.shift


@pytest.mark.parametrize(
    ("beside", "words"),
    [
        (("working",), "better than usual"),
        (("done",), "better than usual"),
        (("looping", "stuck", "crisis"), "statistics look good, but it is looping now"),
        (("stuck",), "statistics look good, but it is stuck now"),
        (("working", "stuck", "calm"), "statistics look good, but what it tries fails now"),
        (("", "stuck", "calm"), "statistics look good, but it is stuck now"),
        (("working", "exploring", "crisis"), "statistics look good, but its last minutes were a crisis"),
        (("gave up",), "statistics look good, but it gave up"),
    ],
)
def test_no_good_outlook_stands_beside_trouble(beside: tuple[str, ...], words: str) -> None:
    better = outlook(facts(actions=20, looks=8, tests=4, runs_since_change=8), False, OutlookSettings())
    assert better.direction == "better"
    assert (better.words_beside(*beside), better.sentences_beside(*beside)[0]) == (words, words)
    usual = replace(better, direction="usual")
    assert usual.words_beside(*beside) == words.replace("better than", "as").replace("look good", "look usual")
    worse = replace(better, direction="worse")
    assert worse.words_beside(*beside) == "worse than usual"


def test_reasons_for_the_direction_come_before_those_against_it() -> None:
    worse = outlook(
        facts(actions=20, looks=20, new_files=30, runs_since_change=30), False, OutlookSettings(own_shift=-2)
    )
    assert worse.direction == "worse"
    signs = [reason.amount > 0 for reason in worse.reasons]
    assert signs == sorted(signs, reverse=True) and set(signs) == {True, False}
    assert abs(worse.reasons[0].amount) < max(abs(reason.amount) for reason in worse.reasons)
