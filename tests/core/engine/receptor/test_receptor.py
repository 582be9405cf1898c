"""The receptor as a whole: one event's way through it."""

from __future__ import annotations

import pytest

from core.engine.percept import AXES, Axis, Percept
from core.engine.receptor import Receptor
from core.engine.receptor.emotion import EmotionEngine
from core.engine.receptor.readings import Why
from core.errors import StateError
from core.events import Compaction, Event, Prompt, ToolUse, Turn
from tests.core.engine.receptor.acts import DEFAULTS, START, spell, touch, tuned


def receptor(**changes: object) -> Receptor:
    return Receptor(tuned(**changes))


def play(made: Receptor, events: list[Event]) -> list[Percept]:
    return [made.step(event) for event in events]


def sent(percepts: list[Percept]) -> list[list[str]]:
    return [[signal.name for signal in percept.signals] for percept in percepts]


def test_a_loop_of_failures_ends_in_being_stuck() -> None:
    made = receptor()
    percepts = play(made, spell("efefefef"))
    assert percepts[-1].pattern == "trial_error"
    assert percepts[-1].state == "stuck"
    assert percepts[-1].failure_rate == 1.0
    assert percepts[-1].events == 8
    assert "frustration_spike" in sent(percepts)[-1]
    assert dict(made.read().meta.field)["frustration"] < 0


def test_smooth_work_flows_and_silences_everything_else() -> None:
    percepts = play(receptor(), spell("eb" * 12))
    flowing = [percept for percept in percepts if percept.signals and percept.signals[0].name == "flow_active"]
    assert flowing
    assert flowing[0].signals[0].fresh
    assert not flowing[1].signals[0].fresh
    assert all(len(percept.signals) == 1 for percept in flowing)
    assert percepts[-1].state == "deep_work"


def test_flow_lets_go_of_what_was_held() -> None:
    made = receptor()
    percepts = play(made, spell("eb" * 12))
    first = next(n for n, names in enumerate(sent(percepts)) if names == ["flow_active"])
    assert "confidence_sustained" in sent(percepts)[first - 1]
    assert percepts[-1].axes[2] > 0.5
    assert made.read().held == ()
    assert made.read().meta.buffer[-1] is None


def test_searching_in_vain_is_a_knowledge_gap() -> None:
    percepts = play(receptor(), spell("oooooo"))
    assert percepts[-1].pattern == "wandering"
    assert sent(percepts)[-1][:2] == ["seeking_spike", "uncertainty_spike"]


def test_frustration_and_a_gap_together_are_sent_as_one() -> None:
    percepts = play(receptor(), spell("efefefef" + "oooo"))
    assert "compound_frustration_seeking" in sent(percepts)[-1]
    assert not {"frustration_spike", "seeking_spike"} & set(sent(percepts)[-1])


def test_a_turn_lets_time_pass_and_repeats_what_stands() -> None:
    made = receptor()
    last = play(made, spell("efefefef"))[-1]
    after = made.step(Turn(at=last.at + 20))
    assert (after.elapsed, after.now) == (20.0, last.now + 20.0)
    assert after.events == last.events
    assert [signal.name for signal in after.signals] == [signal.name for signal in last.signals]
    assert not any(signal.fresh for signal in after.signals)
    assert 0 < after.axes[0] < last.axes[0]
    assert after.axes[3] < last.axes[3]


def test_turns_between_acts_change_nothing_for_the_acts() -> None:
    acts = spell("efefefooogrebebeb", gap=25.0)
    mixed = acts[:1]
    for act in acts[1:]:
        mixed += [Turn(at=act.at - 18), Turn(at=act.at - 6), act]
    alone = play(receptor(), acts)
    among = [percept for percept, event in zip(play(receptor(), mixed), mixed, strict=True) if event in acts]
    for one, other in zip(alone, among, strict=True):
        assert other.axes == pytest.approx(one.axes, abs=1e-9)
        assert (other.pattern, other.state, other.events) == (one.pattern, one.state, one.events)
        assert [(s.name, s.fresh) for s in other.signals] == [(s.name, s.fresh) for s in one.signals]


@pytest.mark.parametrize("outcome", ["rejected", "collateral", "pending"])
def test_a_call_that_never_took_effect_only_tires(outcome: str) -> None:
    made = receptor()
    play(made, spell("oooo"))
    before = made.step(Turn(at=START + 20))
    assert before.pattern == "wandering"
    event = ToolUse(at=START + 20, action="file_edit", outcome=outcome, targets=("a",))  # type: ignore[arg-type]
    after = made.step(event)
    moved = [axis for axis, old, new in zip(AXES, before.axes, after.axes, strict=True) if old != new]
    assert moved == ["fatigue"]
    assert after.events == before.events
    assert made.read().heatmap.leaves == 0


def test_a_failed_edit_is_no_successful_one() -> None:
    percept = receptor().step(touch("a", action="file_edit", outcome="failure"))
    assert percept.axes[:3] == (0.05, 0.0, 0.0)
    assert percept.events == 1


@pytest.mark.parametrize(("characters", "confidence"), [(100, 0.0), (101, 0.01)])
def test_only_a_longer_prompt_tells_something(characters: int, confidence: float) -> None:
    percept = receptor().step(Prompt(at=START, characters=characters))
    assert percept.axes[2] == confidence
    assert percept.axes[3] == 0.005
    assert percept.events == 0


def test_a_compaction_relieves_fatigue() -> None:
    made = receptor()
    before = play(made, spell("r" * 30))[-1]
    after = made.step(Compaction(at=before.at))
    assert after.axes[3] == pytest.approx(before.axes[3] / 2)
    assert after.axes[:3] == before.axes[:3]
    assert made.why("fatigue").contributions[0].source == "compaction"


def test_after_a_silence_the_agent_was_idle_and_the_baseline_begins_again() -> None:
    made = receptor()
    last = play(made, spell("efefefef"))[-1]
    assert made.read().axes[0].baseline < 0.05
    percept = made.step(Prompt(at=last.at + 181, characters=1))
    assert (percept.silence, percept.elapsed, percept.state) == (True, 0.0, "idle")
    assert made.read().axes[0].baseline == pytest.approx(percept.axes[0])
    assert made.step(touch("a", percept.at + 5)).state != "idle"


def test_a_silence_seen_by_a_turn_also_ends_with_the_next_act() -> None:
    made = receptor()
    last = play(made, spell("efefefef"))[-1]
    assert made.step(Turn(at=last.at + 400)).state == "idle"
    percept = made.step(Prompt(at=last.at + 405, characters=1))
    assert made.read().axes[0].baseline == pytest.approx(percept.axes[0])


def test_a_shift_of_context_unsettles_and_resets_the_baseline() -> None:
    made = receptor()
    play(made, [touch(path, START + n * 10, "file_edit") for n, path in enumerate("abcde" * 20)])
    assert made.read().axes[2].baseline > 0.2
    for number, path in enumerate("xxyyzz" * 20):
        percept = made.step(touch(path, START + 1000 + number, "file_edit"))
        if percept.shifted:
            break
    assert made.read().shifts == 1
    assert percept.axes[5] == pytest.approx(0.10 - 0.01)
    assert percept.axes[1] == pytest.approx(0.08 - 0.02)
    assert [axis.baseline for axis in made.read().axes] == [0.0] * 6
    later = [made.step(touch(path, START + 1100 + n, "file_edit")) for n, path in enumerate("xyz" * 5)]
    assert not any(percept.shifted for percept in later)
    assert made.read().axes[2].baseline > 0.0


def test_a_signal_disrupts_flow() -> None:
    changes = {"ambient": {"offset": {"flow": 0.8}}}
    percepts = play(receptor(**changes), spell("eb" * 10))
    still = play(receptor(**changes, emotion={"disruption_share": 0.0}), spell("eb" * 10))
    made = receptor(**changes)
    for percept, quiet in zip(percepts, still, strict=True):
        if percept.axes[4] < quiet.axes[4]:
            break
    else:
        pytest.fail("flow was never disrupted")
    greatest = max(signal.intensity for signal in percept.signals)
    assert quiet.axes[4] >= 0.3
    assert quiet.axes[4] - percept.axes[4] == pytest.approx(0.3 * greatest)
    play(made, spell("eb" * 10))
    assert any(part.source == "disruption" and part.amount < 0 for part in made.why("flow").contributions)


def test_the_meta_neuron_sees_the_signals_of_the_event_before() -> None:
    made = receptor()
    for event in spell("efefefef"):
        fired = [axis.axis for axis in made.read().axes if axis.firing]
        made.step(event)
        assert (made.read().meta.buffer[-1] is not None) == bool(fired)


def test_a_prior_seeds_the_baseline() -> None:
    made = receptor()
    made.seed({"frustration": 0.5})
    assert made.read().axes[0].threshold == pytest.approx(0.7)
    percepts = play(made, spell("efefef"))
    assert not any("frustration_spike" in names for names in sent(percepts))


def test_reading_ahead_shows_what_an_empty_event_would_find() -> None:
    made, twin = receptor(), receptor()
    for later in (3.0, 29.0, 100.0, 179.0, 181.0, 4000.0):
        for event in spell("efefefooo"):
            made.step(event)
            twin.step(event)
        reading = made.read(START + 40 + later)
        percept = twin.step(Turn(at=START + 40 + later))
        assert tuple(axis.value for axis in reading.axes) == percept.axes
        assert (reading.now, reading.meta.state) == (percept.now, percept.state)
        assert (reading.behaviour.short.pattern, reading.behaviour.medium.pattern) == (
            percept.pattern,
            percept.medium_pattern,
        )
        made, twin = receptor(), receptor()


def test_a_reading_tells_all_there_is() -> None:
    made = receptor()
    assert made.read().idle
    play(made, [touch(f"src/{name}", START + number, "file_edit") for number, name in enumerate("abab")])
    play(made, spell("fefefefe", start=START + 10))
    reading = made.read()
    assert [axis.axis for axis in reading.axes] == list(AXES)
    frustration = reading.axes[0]
    assert frustration.threshold == 0.25
    assert frustration.baseline + frustration.offset + frustration.field < 0.25
    assert frustration.firing
    assert not frustration.held
    assert frustration.release == 3
    assert frustration.trend == pytest.approx(frustration.value)
    assert reading.held[0].intensity == pytest.approx(frustration.value - 0.25)
    assert reading.gate.threshold == 0.25
    assert reading.signals[0].name == "frustration_spike"
    assert reading.behaviour.short.alternations == 8
    assert reading.heatmap.tree[0].name == "src"
    assert reading.events == 12
    assert made.why("frustration").value == frustration.value
    assert made.read(START).at == reading.at


def test_a_state_that_does_not_fit_is_refused_in_words() -> None:
    with pytest.raises(StateError, match="does not fit"):
        receptor().load({"events": 3})
    with pytest.raises(StateError):
        receptor().load(Receptor(DEFAULTS).dump() | {"clock": (1, 2)})


@pytest.mark.plain
def test_why_asked_late_is_why_asked_then_and_costs_nothing_until_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    genuine = EmotionEngine.why

    def counted(self: EmotionEngine, axis: Axis, now: float) -> Why:
        asked.append(axis)
        return genuine(self, axis, now)

    monkeypatch.setattr(EmotionEngine, "why", counted)
    acts = spell("ebefefrgfefbbe" * 8, gap=40.0)
    made = receptor()
    play(made, acts[:90])
    then = tuple(made.why(axis, acts[89].at + 1.0) for axis in AXES)
    asked.clear()
    late = made.explain(acts[89].at + 1.0)
    assert late == made.explain(acts[89].at + 1.0)
    assert late != made.explain(acts[89].at + 2.0)
    play(made, acts[90:])
    assert asked == []
    assert late != made.explain()
    assert tuple(late) == then
    assert (late[1], len(late)) == (then[1], len(then))
    assert asked == list(AXES)
