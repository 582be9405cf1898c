"""Axes: impulses, half-lives, bounds, and the reasons for a value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.percept import AXES, PATTERNS, Axis, Pattern
from core.engine.receptor.emotion import CAUSES, EmotionEngine
from core.events import ToolUse
from core.settings.receptor import EmotionSettings, ImpulseSettings
from tests.core.engine.receptor.acts import LETTERS, spell, tuned


def engine(**impulses: object) -> EmotionEngine:
    return EmotionEngine(EmotionSettings(), tuned(impulse=impulses).impulse)


def values(made: EmotionEngine, now: float) -> dict[Axis, float]:
    return dict(zip(AXES, made.ahead(now), strict=True))


def feel(made: EmotionEngine, cause: str, now: float = 0.0, pattern: str = "", shifted: bool = False) -> None:
    made.update(1, 0.0, now, (cause,) if cause else (), pattern, shifted)


HALF_LIVES: list[tuple[Axis, float]] = [
    ("frustration", 180.0),
    ("seeking", 240.0),
    ("confidence", 120.0),
    ("fatigue", 600.0),
    ("flow", 180.0),
    ("uncertainty", 180.0),
]


@pytest.mark.parametrize(("axis", "seconds"), HALF_LIVES)
def test_after_its_half_life_an_axis_has_half_its_value(axis: Axis, seconds: float) -> None:
    made = half_full(fatigue_per_hour=0.0)
    full = values(made, 0.0)[axis]
    assert values(made, seconds)[axis] == pytest.approx(full / 2)
    feel(made, "", now=seconds)
    every = 0.005 if axis == "fatigue" else 0.0
    assert values(made, seconds)[axis] == pytest.approx(full / 2 + every)


CAUSED: dict[str, dict[Axis, float]] = {
    "shell_failure": {"frustration": 0.10, "confidence": -0.04},
    "shell_success": {"confidence": 0.08, "flow": 0.04, "frustration": -0.08, "seeking": -0.03, "uncertainty": -0.02},
    "file_edit": {"confidence": 0.04, "flow": 0.02, "seeking": -0.02, "uncertainty": -0.01},
    "search_empty": {"seeking": 0.10, "uncertainty": 0.05},
    "search_found": {"seeking": -0.05},
    "file_read": {"seeking": 0.02},
    "memory_read": {"seeking": 0.02},
    "memory_miss": {"seeking": 0.10},
    "memory_write": {"confidence": 0.03},
    "long_prompt": {"seeking": -0.02, "confidence": 0.01},
}
PATTERNED: dict[Pattern, dict[Axis, float]] = {
    "trial_error": {"frustration": 0.08},
    "wandering": {"seeking": 0.12, "uncertainty": 0.10},
    "exploration": {"seeking": 0.04},
    "implementation": {"flow": 0.04, "confidence": 0.04},
    "delegation": {},
    "stagnation": {},
}


def half_full(**impulses: object) -> EmotionEngine:
    """An engine with every axis in the middle, so that impulses of either sign show."""
    made = engine(**impulses)
    made.values, made.undisturbed = (0.5,) * 6, 0.5
    made._marks[0] = (0, 0.0, 0.0, (), "", False, made.values, 0.0, 1.0, 1.0)
    return made


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("cause", [cause for cause in CAUSED if cause != "memory_write"])
def test_every_impulse_of_the_table(cause: str, pattern: Pattern) -> None:
    made = half_full()
    before = values(made, 0.0)
    feel(made, cause, pattern=pattern)
    for axis, after in values(made, 0.0).items():
        every = 0.005 if axis == "fatigue" else 0.0
        felt = PATTERNED[pattern].get(axis, 0.0) * (1.0 - before["frustration"] if axis == "flow" else 1.0)
        added = CAUSED[cause].get(axis, 0.0) + felt + every
        assert after - before[axis] == pytest.approx(added), axis


def test_a_memory_written_gives_confidence() -> None:
    made = engine()
    feel(made, "memory_write")
    assert values(made, 0.0)["confidence"] == pytest.approx(0.03)


def test_a_shift_of_context_unsettles() -> None:
    made = engine()
    feel(made, "", shifted=True)
    assert values(made, 0.0)["uncertainty"] == pytest.approx(0.10)
    assert values(made, 0.0)["seeking"] == pytest.approx(0.08)


def test_every_hour_worked_makes_each_event_more_tiring() -> None:
    made = engine()
    feel(made, "", now=7200.0)
    assert values(made, 7200.0)["fatigue"] == pytest.approx(0.005 + 2 * 0.003)


def test_no_impulse_takes_fatigue_away_but_a_compaction_does() -> None:
    with pytest.raises(ValueError, match="fatigue"):
        ImpulseSettings.parse({"every_event": {"fatigue": -0.1}})
    made = half_full()
    before = values(made, 0.0)
    made.relieve(2, 0.0, 0.0)
    after = values(made, 0.0)
    assert after["fatigue"] == pytest.approx(before["fatigue"] / 2)
    assert {axis: after[axis] for axis in AXES if axis != "fatigue"} == {
        axis: before[axis] for axis in AXES if axis != "fatigue"
    }
    last = made.why("fatigue", 0.0).contributions[0]
    assert last.source == "compaction"
    assert last.amount == pytest.approx(-before["fatigue"] / 2)


def test_flow_undisturbed_goes_its_own_way() -> None:
    made, calm = half_full(), half_full()
    made.disrupt(0.2)
    assert (made.values[4], made.undisturbed) == pytest.approx((0.3, 0.5))
    for one in (made, calm):
        feel(one, "file_edit", now=180.0)
        one.relieve(3, 0.0, 360.0)
    assert made.undisturbed == calm.undisturbed == calm.values[4] == pytest.approx(0.135)
    made.disrupt(1.0)
    assert made.values[4] == 0.0


# name, pattern, acts, then frustration, seeking (negative: a gap), confidence as published
SCENARIOS: list[tuple[str, Pattern, str, float, float, float]] = [
    ("normal exploration", "exploration", "grgrg", 0.00, -0.09, 0.00),
    ("three failures in a row", "trial_error", "fff", 0.53, 0.00, 0.00),
    ("search without end", "wandering", "ooroo", 0.00, -0.99, 0.00),
    ("smooth implementation", "implementation", "ebeeb", 0.00, 0.12, 0.45),
    ("one mistake, then right", "trial_error", "efreb", 0.40, 0.05, 0.12),
    ("long reading", "exploration", "rrrrrr", 0.00, -0.35, 0.00),
    ("stuck", "trial_error", "efefef", 0.75, 0.06, 0.00),
    ("productive cycle", "implementation", "grebw", 0.00, 0.08, 0.33),
    ("wandering that ends", "wandering", "oogr", 0.00, -0.63, 0.00),
    ("search by halves", "exploration", "gogor", 0.00, -0.31, 0.00),
    ("much delegation", "delegation", "aara", 0.00, -0.02, 0.02),
    ("almost nothing", "stagnation", "rr", 0.00, -0.04, 0.00),
    ("confidence breaks", "trial_error", "bbbff", 0.36, 0.09, 0.14),
    ("much memory", "exploration", "mmrmw", 0.00, -0.27, 0.03),
    ("reading without answers", "wandering", "orroro", 0.00, -1.00, 0.00),
    ("quick fix", "implementation", "reb", 0.00, 0.03, 0.24),
]


def causes(act: ToolUse) -> tuple[str, ...]:
    cause = CAUSES.get((act.action, act.outcome))
    return () if cause is None else (cause,)


def play(pattern: Pattern, letters: str) -> dict[Axis, float]:
    """Five seconds between acts, the pattern given."""
    made = engine()
    now = 0.0
    for number, act in enumerate(spell(letters, start=0.0)):
        assert isinstance(act, ToolUse)
        now = act.at
        made.update(number, act.at, now, causes(act), pattern, False)
    return values(made, now)


@pytest.mark.parametrize(("name", "pattern", "letters", "frustration", "seeking", "confidence"), SCENARIOS)
def test_published_scenarios(
    name: str, pattern: Pattern, letters: str, frustration: float, seeking: float, confidence: float
) -> None:
    felt = play(pattern, letters)
    assert felt["frustration"] == pytest.approx(frustration, abs=0.01)
    if name == "much delegation":
        assert felt["confidence"] == 0.0
    else:
        assert felt["confidence"] == pytest.approx(confidence, abs=0.01)
    if seeking < 0:
        assert felt["seeking"] == pytest.approx(-seeking, abs=0.03)


def test_the_scenarios_are_those_of_the_file(shared_data: Path) -> None:
    tools = {"Read": "r", "Edit": "e", "Agent": "a", "engram_pull": "m", "engram_push": "w"}

    def letter(event: dict[str, object]) -> str:
        if event["tool_name"] == "Bash":
            return "f" if event["exit_code"] else "b"
        if event["tool_name"] == "Grep":
            given = event["tool_input"]
            assert isinstance(given, dict)
            return "g" if given["resultCount"] else "o"
        return tools[str(event["tool_name"])]

    found = json.loads((shared_data / "engram_calibration.json").read_text())["scenarios"]
    theirs = [
        (
            scenario["pattern"],
            "".join(map(letter, scenario["events"])),
            *(scenario["expected"][axis] for axis in ("frustration", "seeking", "confidence")),
        )
        for scenario in found
    ]
    assert theirs == [scenario[1:] for scenario in SCENARIOS]


def test_trend_is_the_change_against_a_minute_ago() -> None:
    made = engine()
    feel(made, "shell_failure")
    assert made.trend(0.0)[0] == pytest.approx(0.10)
    feel(made, "shell_failure", now=90.0)
    assert made.trend(90.0)[0] == pytest.approx(made.values[0] - 0.10 * 0.5 ** (30 / 180))
    assert made.trend(1000.0)[0] < 0


def test_why_names_the_impulses_of_each_event() -> None:
    made = engine()
    made.update(7, 100.0, 0.0, ("shell_failure",), "trial_error", False)
    made.update(8, 280.0, 180.0, ("shell_success",), "", False)
    why = made.why("frustration", 180.0)
    assert [(part.event, part.at, part.source) for part in why.contributions] == [
        (8, 280.0, "shell_success"),
        (7, 100.0, "trial_error"),
        (7, 100.0, "shell_failure"),
    ]
    assert [part.amount for part in why.contributions] == pytest.approx([-0.08, 0.04, 0.05])
    assert why.older == 0.0
    assert why.value == pytest.approx(0.01)


def test_an_impulse_cut_off_by_a_bound_counts_as_far_as_it_took_effect() -> None:
    made = engine()
    feel(made, "shell_success")
    assert made.why("frustration", 0.0).contributions == ()
    feel(made, "shell_failure")
    feel(made, "shell_success")
    feel(made, "shell_success")
    amounts = [part.amount for part in made.why("frustration", 0.0).contributions]
    assert amounts == pytest.approx([-0.02, -0.08, 0.10])


def test_what_is_no_longer_remembered_is_summed_as_older() -> None:
    made = engine()
    for number in range(200):
        made.update(number, 0.0, float(number), ("file_edit",), "implementation", False)
    why = made.why("flow", 200.0)
    assert len({part.event for part in why.contributions}) == EmotionSettings().remembered
    assert why.older > 0.1


steps = st.lists(
    st.tuples(
        st.sampled_from((0.0, 1.0, 5.0, 30.0)),
        st.sampled_from(("", "compaction", "disruption", *sorted(CAUSED))),
        st.sampled_from(("", *PATTERNS)),
        st.booleans(),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(steps, st.floats(0, 500))
def test_reasons_sum_to_the_value_and_axes_stay_within_bounds(
    drawn: list[tuple[float, str, str, bool]], later: float
) -> None:
    made = EmotionEngine(EmotionSettings(remembered=16), ImpulseSettings())
    now = 0.0
    for number, (gap, cause, pattern, shifted) in enumerate(drawn):
        now += gap
        if cause == "compaction":
            made.relieve(number, 0.0, now)
        else:
            made.update(number, 0.0, now, (cause,) if cause not in ("", "disruption") else (), pattern, shifted)
            if cause == "disruption":
                made.disrupt(0.05)
        assert all(0.0 <= value <= 1.0 for value in made.values)
    for axis in AXES:
        why = made.why(axis, now + later)
        assert why.older + sum(part.amount for part in why.contributions) == pytest.approx(why.value, abs=1e-9)


def test_only_letters_with_a_row_move_an_axis() -> None:
    silent = [letter for letter, act in LETTERS.items() if act not in CAUSES]
    assert silent == ["a", "p", "?"]
