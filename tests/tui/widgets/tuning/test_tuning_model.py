"""Behind the bench: edits, what-ifs, saving."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.errors import StoreError
from core.settings import Settings
from core.settings.draft import (
    Draft,
    Drafted,
    SettingGroup,
    SettingRow,
    group_sentence,
    list_rows,
    nudged_value,
    parse_value,
    setting_groups,
    value_text,
)
from core.settings.layers import Given, Layer, resolve, tunables, value_of
from core.store.profiles import PRESETS, ProfileFiles, profile_changes, read_profile, read_profiles
from core.timeline.rerun import with_edits
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIf, WhatIfResult, changed_series
from tui.widgets.tuning.settings_list import line_of, number_text, slider, value_summary

OFFSET = "receptor.ambient.offset.frustration"
CONFIDENCE = "receptor.ambient.offset.confidence"
NAMES = list(tunables())
STEPS: list[tuple[str, str, Any]] = [
    ("set", OFFSET, 0.1),
    ("set", OFFSET, 0.3),
    ("set", "receptor.neuron.hold", 5),
    ("reset", OFFSET, None),
    ("undo", "", None),
    ("redo", "", None),
]


@pytest.mark.parametrize("fine", [True, False])
def test_every_nudge_stays_within_what_is_allowed(fine: bool) -> None:
    draft = Draft(Settings())
    for name, tunable in islice(tunables().items(), None, None, 3):
        for direction in (1, -1):
            value = tunable.default
            for _ in range(8):
                value = nudged_value(tunable, value, direction, fine=fine)
                problem = draft.set(name, value)
                assert not problem or "conflicts with other settings" in problem, (name, value)
            while draft.undo():
                pass
        if tunable.kind in ("number", "integer") and tunable.low != tunable.high:
            there = nudged_value(tunable, nudged_value(tunable, tunable.default, 1, fine=fine), 1, fine=fine)
            back = nudged_value(tunable, tunable.default, -1, fine=fine)
            assert there != tunable.default or back != tunable.default, name


def test_all_is_as_in_force_again_once_all_is_reset() -> None:
    base = with_edits(Settings(), {"receptor.neuron.hold": 4})
    draft = Draft(base)
    for preset in read_profiles([("built-in", PRESETS)]):
        assert draft.lay(profile_changes(preset, base)) == ""
        draft.reset(tunables())
        assert draft.edits == {} and draft.settings == base, preset.name


def test_what_is_shown_can_be_typed_again() -> None:
    draft = Draft(Settings())
    for name, tunable in tunables().items():
        assert draft.set(name, parse_value(tunable, value_text(tunable.default))) == "", name
        assert draft.edits == {}, name


@settings(max_examples=40)
@given(st.lists(st.sampled_from(STEPS), max_size=12))
def test_undo_goes_back_through_every_state(steps: list[tuple[str, str, Any]]) -> None:
    draft = Draft(Settings())
    states = [dict(draft.edits)]
    for what, name, value in steps:
        if what == "set":
            assert draft.set(name, value) == ""
            states.append(dict(draft.edits))
        elif what == "reset" and draft.reset([name]):
            states.append(dict(draft.edits))
        elif what == "undo" and draft.undo():
            draft.redo()
    for state in reversed(states[:-1]):
        assert draft.undo()
        assert draft.edits == state
    assert not draft.undo()
    for state in states[1:]:
        assert draft.redo()
        assert draft.edits == state
    assert draft.settings == resolve([Layer("x", tuple(Given(*each) for each in draft.edits.items()))]).settings


def test_a_draft_follows_what_comes_into_force() -> None:
    draft = Draft(Settings())
    draft.set(OFFSET, 0.1)
    draft.set("receptor.neuron.hold", 5)
    force = resolve([Layer("x", (Given(OFFSET, 0.1),))]).settings
    draft.rebase(force)
    assert draft.edits == {"receptor.neuron.hold": 5}
    assert value_of(draft.settings, OFFSET) == 0.1
    assert draft.reset([OFFSET])
    assert draft.edits == {"receptor.neuron.hold": 5, OFFSET: 0.2}


def test_values_that_do_not_go_together_are_refused() -> None:
    draft = Draft(Settings())
    problem = draft.set("governor.override", {"no_such_figure": 1.0})
    assert "conflicts with other settings" in problem
    assert draft.edits == {}


def test_groups_hold_every_setting_once_and_say_what_they_are() -> None:
    assert [name for names in setting_groups().values() for name in names] == NAMES
    assert all(group_sentence(group) for group in setting_groups())
    found = list_rows((), "threshold below")
    assert found
    assert all(row.open for row in found if isinstance(row, SettingGroup))
    assert all(
        "threshold" in f"{row.tunable.name} {row.tunable.sentence}".lower()
        for row in found
        if isinstance(row, SettingRow)
    )
    assert list_rows((), "no such words at all") == ()


@pytest.mark.parametrize("width", [6, 12, 24])
def test_a_slider_is_as_wide_as_it_should_be(width: int) -> None:
    for name in NAMES[::11]:
        tunable = tunables()[name]
        if tunable.kind in ("number", "integer"):
            line = slider(tunable, tunable.default, width, edited=False)
            assert sum(len(text) for text, _ in line) == width
        assert value_summary(tunable.default, tunable)


@pytest.mark.parametrize(
    ("value", "step", "said"),
    [
        (12_500, 500, "12.5k"),
        (40_000, 1_000, "40k"),
        (9_999, 1, "9999"),
        (0.3, 0.01, ".30"),
        (0.2, 0.05, ".20"),
        (-0.04, 0.005, "-.040"),
        (3, 1, "3"),
        (0.0, 0.001, "0"),
        (400_000, 10_000, "400k"),
    ],
)
def test_figures_are_short(value: float, step: float, said: str) -> None:
    assert number_text(value, step) == said


def pictures(timeline: Timeline, edits: dict[str, Any], wanted: int = 10**9) -> list[WhatIfResult]:
    told: list[WhatIfResult] = []

    WhatIf(timeline, edits).run(told.append, lambda: len(told) >= wanted)
    return told


def test_a_what_if_ends_complete_and_touches_what_it_should() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(1200))
    last = pictures(timeline, {CONFIDENCE: 0.05})[-1]
    assert last.complete
    assert last.share == 1.0
    assert last.changes() == sorted(last.changes())
    assert {mark.name for _, _, mark in last.changes()} >= {"confidence_sustained"}
    assert changed_series(timeline, last, "main", "", 3)[0] == "axis.confidence"
    assert changed_series(timeline, None, "main", OFFSET, 3) == ["axis.frustration"]


def test_a_what_if_of_nothing_differs_in_nothing() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(600))
    last = pictures(timeline, {})[-1]
    assert last.difference.equal
    assert last.difference.kept


def test_a_what_if_beyond_the_receptor_needs_no_first_pass() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(400))
    last = pictures(timeline, {"response.scoring.threshold": 0.9})[-1]
    assert last.felt is None
    assert last.complete


def test_signals_are_complete_before_the_rest() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(2500))
    told = pictures(timeline, {CONFIDENCE: 0.05})
    early = next(each for each in told if each.settled)
    assert not early.complete
    signals = [mark for mark in early.difference.gained if mark.kind == "signal"]
    whole = [mark for mark in told[-1].difference.gained if mark.kind == "signal"]
    assert signals == [mark._replace(causes=()) for mark in whole]


def test_a_what_if_nobody_wants_stops() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(3000))
    assert len(pictures(timeline, {CONFIDENCE: 0.05}, wanted=1)) == 1


def test_every_preset_is_sound_and_says_what_it_is_for() -> None:
    found = {each.name: each for each in read_profiles([("built-in", PRESETS)])}
    assert {"quiet", "balanced", "eager"} <= set(found)
    for profile in found.values():
        assert profile.complaints == ()
        assert profile.sentence.endswith(".")
        assert Draft(Settings()).lay(profile_changes(profile, Settings())) == ""
    assert not found["balanced"].values


def test_eager_fires_more_than_balanced_and_quiet_less() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(1500))
    counts = {}
    for name in ("quiet", "eager"):
        profile = read_profile(PRESETS / f"{name}.toml", "built-in")
        difference = pictures(timeline, dict(profile.values))[-1].difference
        counts[name] = len(difference.gained) - len(difference.lost)
    assert counts["quiet"] < 0 < counts["eager"]


def test_a_saving_that_fails_leaves_what_was(tmp_path: Path) -> None:
    shelf = ProfileFiles(tmp_path / "settings.toml", tmp_path, tmp_path / "chains")
    (tmp_path / "settings.toml").write_text("[broken")
    with pytest.raises(StoreError, match="not TOML"):
        shelf.save_settings({OFFSET: 0.1}, "user")
    assert (tmp_path / "settings.toml").read_text() == "[broken"
    (tmp_path / "profiles").write_text("in the way")
    with pytest.raises(StoreError):
        shelf.save_profile("x", "", {OFFSET: 0.1}, "user")
    assert (tmp_path / "profiles").read_text() == "in the way"
    with pytest.raises(StoreError, match="not a valid profile name"):
        shelf.save_profile("../x", "", {OFFSET: 0.1}, "user")


@pytest.mark.parametrize("kind", ["profile", "settings"])
def test_a_project_is_not_given_what_it_may_not_set(tmp_path: Path, kind: str) -> None:
    shelf = ProfileFiles(tmp_path / "settings.toml", tmp_path / "project", tmp_path / "chains")
    mine = {"receptor.ambient.low": 0.4}
    with pytest.raises(StoreError, match=r"receptor\.ambient\.low: a project may not set it"):
        if kind == "profile":
            shelf.save_profile("calm", "", mine, "project")
        else:
            shelf.save_settings(mine, "project")
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize("width", [36, 44, 52, 80])
def test_no_two_settings_of_a_group_read_alike(width: int) -> None:
    drafted = Drafted(Settings(), {})
    for group in setting_groups():
        rows = [row for row in list_rows({group}) if isinstance(row, SettingRow)]
        names = [line_of(row, drafted, width, here=False)[1][0] for row in rows]
        assert len(names) == len(set(names)), group


def test_no_figure_is_cut() -> None:
    drafted = Drafted(Settings(), {"governor.observing.time_decay": 0.0002})
    rows = [row for row in list_rows({"governor.observing"}) if isinstance(row, SettingRow)]
    [row] = [row for row in rows if row.tunable.name.endswith("time_decay")]
    assert line_of(row, drafted, 36, here=False)[-1][0].strip() == ".0002 /s"
