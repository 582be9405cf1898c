"""Episodes: where they are cut, what they are called, and which come to mind."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from core.engine.mind.cortical import EMOTIONS, REGIMES, CorticalState, Regime
from core.engine.mind.episode import Episode, Situation, distill
from core.engine.mind.episodes import Episodes, Likeness, coarse, cosine, largest
from core.engine.percept import PATTERNS
from core.events import Action, Event, Outcome, Prompt, Purpose, SessionEnd, ToolUse
from core.settings.mind import EpisodeSettings
from tests.core import strategies


def brain(regime: Regime = "calm", pad: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> CorticalState:
    pleasure, arousal, dominance = pad
    return CorticalState(pleasure, arousal, dominance, EMOTIONS[0], regime=regime)


def call(
    action: Action = "file_edit",
    outcome: Outcome = "success",
    purpose: Purpose = "",
    target: str = "src/loader/feed.py",
    at: float = 1.0,
) -> ToolUse:
    return ToolUse(at=at, action=action, outcome=outcome, purpose=purpose, targets=(target,) if target else ())


def prompt(at: float = 50.0, interrupt: bool = False) -> Prompt:
    return Prompt(at=at, characters=9, interrupt=interrupt)


def past(**changes: object) -> Episode:
    signature = (("file_edit", 3), ("src/loader/", 3))
    whole = Episode(
        0, 100, 1.0, 2.0, "calm", 0.0, 0.0, 0.0, "file_edit", "gain", "prompt", "prompt", 3, 0, signature, "e+"
    )
    return structs.replace(whole, **changes)


def test_a_prompt_ends_a_stretch_and_begins_the_next() -> None:
    episodes, state = Episodes(EpisodeSettings()), brain("turbulence", (0.5, -0.5, 0.25))
    assert episodes.update(prompt(5.0), "exploration", state, 0) is None
    episodes.update(call("search", "empty", target="", at=6.0), "exploration", state, 3)
    episodes.update(call("file_read", target="src/loader/feed.py"), "exploration", state, 4)
    episodes.update(call("file_read", "failure", target="README.md"), "exploration", state, 5)
    ended = episodes.update(prompt(50.0), "exploration", state, 7)
    assert ended == Episode(
        number=0,
        tick=7,
        at=5.0,
        until=50.0,
        regime="turbulence",
        pleasure=0.5,
        arousal=-0.5,
        dominance=0.25,
        action="file_read",
        outcome="loss",
        began_by="prompt",
        ended_by="prompt",
        calls=3,
        failures=1,
        signature=(("./", 1), ("file_read", 2), ("search", 1), ("src/loader/", 1)),
        trace="s0r+r-",
    )
    assert episodes.history == (ended,)
    assert episodes.read().last == ended


def test_a_pattern_change_ends_a_stretch_that_has_enough_calls() -> None:
    episodes, state = Episodes(EpisodeSettings(least_calls=3)), brain()
    patterns = ["stagnation", "exploration", "exploration", "implementation", "implementation"]
    ended = [episodes.update(call(), pattern, state, tick) for tick, pattern in enumerate(patterns)]
    assert [each is not None for each in ended] == [False, False, False, True, False]
    closed = ended[3]
    assert closed is not None and (closed.calls, closed.ended_by) == (3, "pattern")
    assert episodes.read().calls == 2 and episodes.read().began_by == "pattern"


@pytest.mark.parametrize("ended_by", ["delta", "interrupt", "session_end"])
def test_a_delta_tick_an_interruption_and_the_end_close_too(ended_by: str) -> None:
    episodes, state = Episodes(EpisodeSettings()), brain()

    def close() -> Episode | None:
        if ended_by == "delta":
            return episodes.delta(9.0, state, 2)
        event: Event = prompt(9.0, True) if ended_by == "interrupt" else SessionEnd(at=9.0)
        return episodes.update(event, "exploration", state, 2)

    assert close() is None
    episodes.update(call(), "exploration", state, 1)
    ended = close()
    assert ended is not None and ended.ended_by == ended_by
    assert close() is None


@pytest.mark.parametrize(
    ("calls", "outcome"),
    [
        ([call()], "gain"),
        ([call("shell_exec", "success", "test")], "gain"),
        ([call("shell_exec", "failure", "test"), call(), call()], "loss"),
        ([call("shell_exec", "failure"), call(), call()], "flat"),
        ([call("file_read")] * 4, "flat"),
        ([call("file_edit", "rejected")], "loss"),
        ([call("shell_exec", "failure", "build"), call("shell_exec", "success", "build"), call()], "gain"),
        ([call()] + [call("file_read")] * 9, "flat"),
    ],
)
def test_the_outcome_of_a_stretch(calls: list[ToolUse], outcome: str) -> None:
    episodes, state = Episodes(EpisodeSettings()), brain()
    for each in calls:
        episodes.update(each, "exploration", state, 1)
    assert episodes.read().leaning == outcome
    ended = episodes.update(prompt(), "exploration", state, 2)
    assert ended is not None and ended.outcome == outcome


def test_an_episode_is_what_it_was_for_most_of_its_ticks() -> None:
    episodes = Episodes(EpisodeSettings())
    calm, crisis = brain("calm", (1.0, 0.0, 0.0)), brain("crisis", (-0.5, 0.0, 0.0))
    episodes.update(call(), "exploration", calm, 1)
    for state in (crisis, crisis, calm):
        episodes.sample(state)
    ended = episodes.delta(9.0, calm, 4)
    assert ended is not None and (ended.regime, ended.pleasure) == ("crisis", 0.0)
    episodes.update(call(), "exploration", calm, 5)
    unsampled = episodes.delta(10.0, calm, 6)
    assert unsampled is not None and (unsampled.regime, unsampled.pleasure) == ("calm", 1.0)


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("src/loader/deep/feed.py", "src/loader/"),
        ("src/loader/feed.py", "src/loader/"),
        ("src/feed.py", "src/"),
        ("README.md", "./"),
        ("/home/ann/secret/plan.md", "/"),
        ("~/notes/x.md", "/"),
        ("../other/x.py", "/"),
        ("C:/Users/ann/x.py", "/"),
    ],
)
def test_a_place_is_coarse_and_names_nobody(target: str, place: str) -> None:
    assert coarse(target, 2) == place


def test_likeness_follows_its_weights() -> None:
    likeness = Likeness(EpisodeSettings())
    same = Situation("calm", 0.0, 0.0, 0.0, {"file_edit": 3, "src/loader/": 3})
    assert likeness.compare(same, past(), 0).score == pytest.approx(1.0)
    assert likeness.compare(same, past(regime="crisis"), 0).score == pytest.approx(0.6)
    assert likeness.compare(same._replace(task={}), past(), 0).score == pytest.approx(0.7)
    corner = same._replace(pleasure=1.0, arousal=1.0, dominance=1.0)
    far = past(pleasure=-1.0, arousal=-1.0, dominance=-1.0)
    assert likeness.compare(corner, far, 0).similarity == pytest.approx(0.7)
    assert likeness.compare(same, past(pleasure=3**0.5), 0).affect == pytest.approx(0.5)


@pytest.mark.parametrize(("age", "recency"), [(0, 1.0), (1000, 1 / 1.1), (10_000, 0.5), (90_000, 0.1)])
def test_recency_multiplies(age: int, recency: float) -> None:
    same = Situation("calm", 0.0, 0.0, 0.0, {"file_edit": 3, "src/loader/": 3})
    found = Likeness(EpisodeSettings()).compare(same, past(), age)
    assert found.recency == pytest.approx(recency)
    assert found.score == pytest.approx(found.similarity * recency)


moods = st.floats(-1.0, 1.0)
tasks = st.dictionaries(st.sampled_from(["file_edit", "search", "src/", "./", "/"]), st.integers(1, 10**6), max_size=5)


@given(st.sampled_from(REGIMES), moods, moods, moods, tasks, tasks, st.integers(-5, 10**7))
@settings(max_examples=100)
def test_likeness_stays_between_0_and_1(
    regime: Regime,
    pleasure: float,
    arousal: float,
    dominance: float,
    now: dict[str, int],
    then: dict[str, int],
    age: int,
) -> None:
    situation = Situation(regime, pleasure, arousal, dominance, now)
    episode = past(signature=largest(then, 12), arousal=-pleasure)
    found = Likeness(EpisodeSettings()).compare(situation, episode, age)
    for value in (found.similarity, found.regime, found.affect, found.task, found.recency, found.score):
        assert 0.0 <= value <= 1.0
    assert cosine(then, largest(then, 12)) == pytest.approx(1.0 if then else 0.0)


def filled(count: int = 6) -> Episodes:
    episodes = Episodes(EpisodeSettings())
    for number in range(count):
        state = brain(REGIMES[number % 4])
        for _ in range(3):
            episodes.update(call(target=f"src/part{number}/x.py"), "exploration", state, 10 * number)
        episodes.update(prompt(float(number)), "exploration", state, 10 * number)
    episodes.update(call(target="src/part2/y.py", at=99.0), "exploration", brain(), 60)
    return episodes


def test_recall_gives_the_most_alike_as_lines() -> None:
    found = filled().recall(brain(REGIMES[2]), 60, tier="T1")
    assert found[0].line == "turbulence, editing with success"
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert len(found) == 5
    assert len(filled().recall(brain(), 60, 2, tier="T2")) == 2


situations = st.tuples(st.sampled_from(REGIMES), moods, tasks, st.integers(-5, 10**5))


@given(st.lists(situations, max_size=30), situations, st.integers(0, 12))
@settings(max_examples=100)
def test_what_is_passed_over_would_not_have_come_to_mind(
    then: list[tuple[Regime, float, dict[str, int], int]], here: tuple[Regime, float, dict[str, int], int], most: int
) -> None:
    now = Situation(here[0], here[1], 0.0, 0.0, here[2])
    ages = [
        (past(regime=regime, pleasure=pleasure, signature=largest(task, 12), number=number), float(age))
        for number, (regime, pleasure, task, age) in enumerate(then)
    ]
    likeness = Likeness(EpisodeSettings())
    every = [likeness.compare(now, episode, age) for episode, age in ages]
    every.sort(key=lambda each: (-each.score, each.episode.number))
    assert likeness.best(now, ages, most) == every[:most]


def test_what_is_alike_comes_with_what_followed_it() -> None:
    episodes = filled()
    episodes.remember([past(session="s", number=n, tick=n, until=float(n)) for n in (3, 4)])
    found = episodes.alike(brain(REGIMES[2]), 60, 99, tier="T1")
    assert [each for each, _ in found] == list(episodes.recall(brain(REGIMES[2]), 60, 99, tier="T1", tokens=999))
    followed = {(each.episode.session, each.episode.number): after for each, after in found}
    assert followed.keys() == {*(("", number) for number in range(6)), ("s", 3), ("s", 4)}
    for (session, number), after in followed.items():
        if (session, number) in (("", 5), ("s", 4)):
            assert after == ()
        else:
            assert [(one.session, one.number) for one in after] == [(session, number + 1)]
    further = episodes.alike(brain(REGIMES[2]), 60, 99, tier="T1", ahead=3)
    chains = {(each.episode.session, each.episode.number): after for each, after in further}
    assert [one.number for one in chains["", 1]] == [2, 3, 4]
    assert [one.number for one in chains["", 4]] == [5]
    assert episodes.alike(brain(), 60, 2, tier="T1")[:1] == episodes.alike(brain(), 60, 1, tier="T1")
    assert episodes.alike(brain(), 60, 9, tier="T0") == ()


def test_recall_needs_a_model_and_keeps_to_its_budget() -> None:
    episodes = filled()
    assert episodes.recall(brain(), 60, tier="T0") == ()
    for tokens in range(0, 60, 3):
        lines = [each.line for each in episodes.recall(brain(), 60, tier="T1", tokens=tokens)]
        assert sum(len(line) + 1 for line in lines) / 4 <= tokens
    assert len(episodes.recall(brain(), 60, tier="T1", tokens=10)) == 1


def test_recall_changes_nothing() -> None:
    episodes = filled()
    before = episodes.dump()
    episodes.recall(brain(), 60, tier="T2")
    episodes.read()
    assert episodes.dump() == before


def test_saved_episodes_come_to_mind_and_age_by_work_only() -> None:
    episodes = Episodes(EpisodeSettings())
    old = [past(session="a", number=n, tick=1000 * n, until=float(n)) for n in (1, 2)]
    new = [past(session="b", number=n, tick=500 * n, until=1e9 + n) for n in (1, 2)]
    episodes.remember([*new, *old])
    found = {
        (each.episode.session, each.episode.number): each.recency for each in episodes.recall(brain(), 100, tier="T2")
    }
    ages = {("b", 2): 100, ("b", 1): 600, ("a", 2): 1100, ("a", 1): 2100}
    assert found == {key: pytest.approx(1 / (1 + age / 10_000)) for key, age in ages.items()}
    assert episodes.compared == 4
    episodes.remember([])
    assert episodes.recall(brain(), 100, tier="T2") == ()


def test_saved_episodes_are_bounded_to_the_newest() -> None:
    episodes = Episodes(EpisodeSettings(remembered=100))
    episodes.remember(past(session="s", number=n, tick=n, until=float(n)) for n in range(500))
    assert episodes.compared == 100
    assert episodes.recall(brain(), 0, 1, tier="T1")[0].episode.number == 499


def test_compression_keeps_what_a_recall_needs() -> None:
    episodes = filled()
    assert episodes.compress(30) == 3
    assert episodes.compress(30) == 0
    assert [bool(each.trace) for each in episodes.history] == [False] * 3 + [True] * 3
    assert episodes.read().summaries == 3
    assert episodes.recall(brain(REGIMES[2]), 60, 1, tier="T1")[0].episode.number == 2


def test_memory_stays_bounded() -> None:
    episodes, state = Episodes(EpisodeSettings()), brain()
    for number in range(30_000):
        episodes.update(call(target=f"d{number}/e{number}/{'x' * 50}.py"), PATTERNS[number // 9 % 6], state, number)
    assert len(episodes.history) == 128
    assert len(episodes._places) <= 512
    assert len(cbor2.dumps(episodes.dump(), canonical=True)) < 60_000


@given(strategies.events(max_size=60, backwards=True), st.integers(0, 60))
@settings(max_examples=40)
def test_loaded_episodes_go_on_equal(events: list[Event], cut: int) -> None:
    kept = EpisodeSettings(capacity=8, trace_length=4, signature_size=3)
    one, other = Episodes(kept), Episodes(kept)
    saved = [past(session="s", number=n) for n in range(3)]
    one.remember(saved)

    def step(of: Episodes, number: int, event: Event) -> Episode | None:
        state = brain(REGIMES[number % 4], (0.1 * (number % 9), 0.0, -0.3))
        if number % 5 == 0:
            of.sample(state)
        if number % 17 == 16:
            of.delta(event.at, state, number)
            of.compress(number - 5)
        return of.update(event, PATTERNS[number // 4 % 6], state, number)

    for number, event in enumerate(events[:cut]):
        step(one, number, event)
    other.remember(saved)
    other.load(cbor2.loads(cbor2.dumps(one.dump(), canonical=True)))
    for number, event in enumerate(events[cut:], cut):
        assert step(one, number, event) == step(other, number, event)
    assert one.dump() == other.dump()
    assert one.read() == other.read()
    assert one.recall(brain(), 99, tier="T2") == other.recall(brain(), 99, tier="T2")


def test_the_playbook_holds_what_enough_episodes_agree_on_and_forgets_what_they_refute() -> None:
    losses = [past(outcome="loss", advised="loop_alert") for _ in range(3)]
    lines = [one.line() for one in distill(losses, 3, 0.7, 8)]
    assert lines == ["advice (loop_alert) failed 3 of 3 times", "editing in src/loader/ failed 3 of 3 times"]
    assert distill(losses[:2], 3, 0.7, 8) == ()
    gains = [past(outcome="gain") for _ in range(2)]
    refuted = [one.what for one in distill([*losses, *gains], 3, 0.7, 8)]
    assert refuted == ["advice (loop_alert)"]
    assert len(distill(losses, 3, 0.7, 1)) == 1
    elsewhere = [past(outcome="gain", signature=(("/", 4), ("file_edit", 4))) for _ in range(3)]
    assert [one.what for one in distill(elsewhere, 3, 0.7, 8)] == ["editing"], "no folder of the project is named"


def test_advice_that_reached_the_agent_is_part_of_its_episode() -> None:
    episodes = Episodes(EpisodeSettings(least_calls=1))
    state = CorticalState()
    episodes.update(ToolUse(at=1.0, action="file_edit"), "implementation", state, 1)
    episodes.advise("loop_alert")
    ended = episodes.update(Prompt(at=2.0, characters=3), "implementation", state, 2)
    assert ended is not None and ended.advised == "loop_alert"
    assert ended.line().endswith("after advice (loop_alert)")
    later = episodes.update(ToolUse(at=3.0, action="file_edit"), "implementation", state, 3)
    assert later is None
