"""What is chosen to be said, at, below and above each limit."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from core.engine.percept import NEUTRAL, Composition
from core.engine.receptor.heatmap import Heatmap, Leaf
from core.engine.receptor.persona import likeness
from core.engine.response.actions import _has_left, _personas, probe, suggest, work_centre
from core.engine.response.interventions import HotMemo, MemoLine
from core.engine.response.outlook import chance, outlook
from core.engine.response.rules import (
    MOST,
    NOTHING_LEARNED,
    Deliver,
    RuleSet,
    _short,
    add_foreign_rules,
    built_in,
    learn,
    narrowed,
)
from core.settings.receptor import HeatmapSettings
from core.settings.response import ActionSettings, LearningSettings, MemoSettings, OutlookSettings
from tests.core.engine.mind.test_episodes import past
from tests.core.engine.receptor.test_persona import SHARES
from tests.core.engine.receptor.test_persona import made as persona
from tests.core.engine.response.moments import Stage, mood, percept, use, verdict
from tests.core.engine.response.test_interventions import numbers, push, queue
from tests.core.engine.response.test_outlook import facts
from tests.core.engine.response.test_scoring import FRUSTRATION, one, rules, scorer, signal

METHOD: Any = SimpleNamespace(action=SimpleNamespace(limit=0, say=""))


def leaf(path: str, weight: float = 1.0, count: int = 1, at: float = 0.0, changed: float | None = None) -> Leaf:
    made = Leaf(path)
    made.weight, made.count, made.last_access, made.last_modified = weight, count, at, changed
    return made


def scene(leaves: tuple[Leaf, ...] = (), at: float = 0.0, **more: Any) -> Any:
    """As much of a moment as actions look at."""
    heatmap = Heatmap(HeatmapSettings())
    heatmap._leaves = {each.path: each for each in leaves}
    heart = SimpleNamespace(composition=Composition())
    mind = SimpleNamespace(heart=heart, wide=lambda most: most, alike=lambda *_: more.get("episodes", []))
    return SimpleNamespace(
        at=at,
        heatmap=heatmap,
        mind=mind,
        settings=ActionSettings(**more.get("settings", {})),
        signature=SHARES,
        personas=more.get("personas", ()),
        words=dict,
    )


@pytest.mark.parametrize(("share", "centre"), [(0.74, "src"), (0.75, "src"), (0.76, "")])
def test_work_has_a_centre_from_a_share_on(share: float, centre: str) -> None:
    assert work_centre([leaf("src", 3.0), leaf("docs", 1.0)], share) == centre


def test_a_centre_may_be_a_path_with_others_below_it() -> None:
    assert work_centre([leaf("src", 1.0), leaf("src/a", 2.0)], 0.5) == "src/a"


@pytest.mark.plain
@pytest.mark.parametrize(
    ("visits", "gone", "left"),
    [
        (2, 100.0, False),
        (3, 100.0, True),
        (4, 100.0, True),
        (3, 59.0, False),
        (3, 60.0, True),
        (3, 3600.0, True),
        (3, 3601.0, False),
    ],
)
def test_a_path_is_left_after_visits_and_a_while(visits: int, gone: float, left: bool) -> None:
    limits = {"visits": 3, "left_after": 60, "left_within": 3600}
    assert _has_left(leaf("a", count=visits), scene(at=gone, settings=limits)) is left


@pytest.mark.plain
@pytest.mark.parametrize(("changed", "told"), [(None, False), (9.0, False), (10.0, False), (11.0, True)])
def test_only_a_change_after_the_last_visit_is_told(changed: float | None, told: bool) -> None:
    said = suggest(scene((leaf("a.py", at=10.0, changed=changed),)), METHOD).text
    assert ("Changed on disk since it was last there: a.py." in said) is told


@pytest.mark.plain
@pytest.mark.parametrize(("familiarity", "rare"), [(0.25, True), (0.5, False), (0.75, False)])
def test_rare_paths_are_told_only_while_known_ones_leave_room(familiarity: float, rare: bool) -> None:
    moment = scene(tuple(leaf(f"{number}.py", 9.0 - number) for number in range(8)), settings={"paths": 4})
    moment.mind.heart.composition = Composition(familiarity=familiarity)
    assert ("Looked at only once" in suggest(moment, METHOD).text) is rare


@pytest.mark.plain
@pytest.mark.parametrize(("pruned", "told"), [(0.19, True), (0.2, True), (0.21, False)])
def test_what_followed_too_seldom_is_left_out(pruned: float, told: bool) -> None:
    often, once = past(action="search"), past(action="shell_exec")
    episodes = [(None, (often,))] * 4 + [(None, (once,))]
    said = probe(scene(episodes=episodes, settings={"pruned": pruned}), METHOD).text
    assert ("(4 of 5)" in said, "(1 of 5)" in said) == (True, told)


@pytest.mark.plain
@pytest.mark.parametrize(("off", "told"), [(-0.001, True), (0.0, True), (0.001, False)])
def test_a_persona_is_asked_from_a_likeness_on(off: float, told: bool) -> None:
    known = persona({"file_edit": 0.9, "search": 0.1})
    assert known is not None
    limit = {"likeness": likeness(SHARES, known.actions) + off}
    assert bool(_personas(scene(personas=(known,), settings=limit))) is told


@pytest.mark.parametrize(("at", "waiting"), [(99.0, 1), (100.0, 1), (101.0, 0)])
def test_a_word_waits_until_its_deadline_has_passed(at: float, waiting: int) -> None:
    made = queue()
    push(made, deadline=100.0)
    made.drain(at, ["reflect"], 0.5)
    assert len(numbers(made)) == waiting


@pytest.mark.parametrize(("seconds", "learned"), [(-1.0, 0), (0.0, 0), (1.0, 1)])
def test_a_stretch_of_no_time_teaches_nothing(seconds: float, learned: int) -> None:
    settings = LearningSettings(least=0.0)
    assert learn(NOTHING_LEARNED, {}, seconds, 0.0, settings).stretches == learned


@pytest.mark.parametrize(("length", "shown"), [(39, "x" * 39), (40, "x" * 40), (41, "x" * 39 + "…"), (0, "")])
def test_a_line_of_the_memo_that_fits_is_not_cut(length: int, shown: str) -> None:
    memo = HotMemo(MemoSettings())
    memo.add(MemoLine(0.0, "m", "x" * length))
    assert memo.text(10) == shown


def test_no_line_of_the_memo_is_only_a_sign_of_being_cut() -> None:
    memo = HotMemo(MemoSettings())
    memo.add(MemoLine(0.0, "older", "old words"))
    memo.add(MemoLine(1.0, "newer", "x" * 38))
    assert memo.text(10) == "x" * 38
    memo.add(MemoLine(1.0, "newer", "x" * 37))
    assert memo.text(10) == "x" * 37 + "\no…"


@pytest.mark.parametrize(("rate", "known"), [(0.0, False), (0.001, True), (0.999, True), (1.0, False)])
def test_a_share_of_none_or_all_gives_no_chance(rate: float, known: bool) -> None:
    assert (chance(0.0, rate) is not None) is known


@pytest.mark.parametrize(
    ("shift", "direction"), [(-0.51, "better"), (-0.5, "usual"), (0.0, "usual"), (0.5, "usual"), (0.51, "worse")]
)
def test_a_run_is_worse_or_better_only_outside_what_is_usual(
    shift: float, direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.engine.response.outlook.shift_of", lambda *_: shift)
    assert outlook(facts(actions=12, words_of_doubt=10), False, OutlookSettings(usual=0.5)).direction == direction


@pytest.mark.parametrize(("off", "told"), [(-1e-9, True), (0.0, True), (1e-9, False)])
def test_a_reason_is_told_from_its_weight_on(off: float, told: bool) -> None:
    reasons = outlook(facts(actions=12), False, OutlookSettings(telling=0.0)).reasons
    least = reasons[-1]
    settings = OutlookSettings(telling=abs(least.amount) + off)
    names = {reason.name for reason in outlook(facts(actions=12), False, settings).reasons}
    assert (least.name in names) is told


@pytest.mark.parametrize(("methods", "refused"), [(MOST - 1, 0), (MOST, 0), (MOST + 1, 1)])
def test_a_project_may_add_so_many_methods(methods: int, refused: int) -> None:
    trigger = {"signals": ["frustration"], "states": ["stuck"], "sensitivity": 0.5}
    method = {"type": "status_notify", "mode": "notify", "trigger": trigger}
    text = json.dumps({"methods": [{"id": f"m{number}", **method} for number in range(methods)]})
    made, left_out = add_foreign_rules(built_in(), text.encode(), "project")
    assert len(left_out) == refused
    assert len(made.methods) == len(built_in().methods) + min(methods, MOST)


@pytest.mark.parametrize(("length", "shown"), [(57, 59), (58, 60), (59, 60)])
def test_a_long_value_is_cut_in_a_message(length: int, shown: int) -> None:
    told = _short("x" * length)
    assert len(told) == shown
    assert told.endswith("…") is (length > 58)


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"sensitivity": 0.4}, True),
        ({"sensitivity": 0.5}, False),
        ({"sensitivity": 0.6}, False),
        ({"frequency": "low"}, True),
        ({"frequency": "medium"}, False),
        ({"frequency": "high"}, False),
        ({"threshold": 0.19}, False),
        ({"threshold": 0.2}, False),
        ({"threshold": 0.21}, True),
        ({"states": ("stuck",)}, True),
        ({"states": ("exploring", "stuck")}, False),
        ({"states": ("stuck", "exploring", "idle")}, False),
    ],
)
def test_a_project_may_only_make_a_method_warn_more(change: dict[str, Any], refused: bool) -> None:
    (known,) = rules().methods
    limits = {"sensitivity": 0.5, "frequency": "medium", "threshold": 0.2, "states": ("stuck", "exploring")}
    old = known.replace(trigger=known.trigger.replace(**limits))
    new = known.replace(trigger=known.trigger.replace(**limits | change))
    method, refusals = narrowed(old, new)
    assert bool(refusals) is refused
    assert method == (old if refused else new)


def test_a_method_that_hears_nothing_is_no_error() -> None:
    made = scorer(rules(sensitivity=0.0))
    assert made.update(0.0, "stuck", signal(1.0)) == []


@pytest.mark.parametrize(("later", "rests"), [(299.0, True), (300.0, False), (301.0, False)])
def test_a_method_rests_until_its_cooldown_is_over(later: float, rests: bool) -> None:
    made = scorer(rules(frequency="low"))
    cooldown = made.cooldown("one")
    assert made.update(0.0, "stuck", signal(1.0))
    made.update(cooldown - 300.0 + later, "exploring", signal(0.2))
    assert ("cooling down" in one(made).why) is rests


@pytest.mark.parametrize(("off", "held"), [(-1e-9, False), (0.0, False), (1e-9, True)])
def test_while_affect_is_unsettled_only_a_strong_score_is_told_to_the_agent(off: float, held: bool) -> None:
    name = FRUSTRATION
    stage = Stage(rules=rules_that_tell())
    (firing,) = stage.act(percept(0.0, (name, 0.9))).fired
    bent = replace(mood(1.1), quarantined=True, modulation=NEUTRAL._replace(mutation_acceptance=firing.score + off))
    other = Stage(rules=rules_that_tell())
    seen = percept(0.0, (name, 0.9))
    happened = use(0.0)
    reaction = other.response.step(happened, seen, other.thought(happened, seen), verdict(), bent)
    assert bool(other.response.queue.waiting) is not held
    assert any(notice.text.startswith("Not sent to the agent") for notice in reaction.notices) is held


def rules_that_tell() -> RuleSet:
    """One method that has words put to the agent."""
    made = rules(sensitivity=1.0)
    (known,) = made.methods
    action = known.action.replace(deliver=Deliver(kind="steer"))
    return made._replace(methods=(known.replace(action=action),))


@pytest.mark.parametrize(("off", "weak"), [(-0.01, True), (0.0, True), (0.01, False)])
def test_a_signal_is_called_weak_up_to_the_threshold(off: float, weak: bool) -> None:
    made = scorer(rules(sensitivity=0.5))
    made.update(0.0, "exploring", signal(one(made).threshold / 0.5 + off))
    assert ("frustration is only" in one(made).why) is weak


def test_of_two_signals_that_score_the_same_the_first_is_named() -> None:
    made = scorer(rules(signals='["frustration", "seeking"]'))
    (shot,) = made.update(0.0, "stuck", (*signal(0.9, "seeking_spike"), *signal(0.9)))
    assert shot.cue == "seeking"
