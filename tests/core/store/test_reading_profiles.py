"""A profile of figures is one choice: it changes all of them, and what a person set otherwise stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.settings import Settings
from core.settings.draft import Draft
from core.settings.layers import tunables, value_of, with_value
from core.store.profiles import PROFILE, ProfileFiles, figure_names, profile_settings
from tui.screens.tuning_bench.bench import _implied

OTHERS = ("fitted", "as-published")


def test_each_profile_has_figures_of_its_own() -> None:
    assert set(tunables()[PROFILE].choices) == {"default", *OTHERS}
    made = [profile_settings(name) for name in ("default", *OTHERS)]
    figures = [tuple(str(value_of(one, name)) for name in figure_names()) for one in made]
    assert len(set(figures)) == 3 and made[0] == Settings()


@pytest.mark.parametrize("profile", OTHERS)
def test_turning_it_changes_the_figures_and_turning_back_none(profile: str) -> None:
    draft = Draft(Settings(), _implied)
    assert draft.set(PROFILE, profile) == "" and len(draft.edits) > 10
    for name in figure_names():
        assert value_of(draft.settings, name) == value_of(profile_settings(profile), name)
    for other in (*OTHERS, "default"):
        assert draft.set(PROFILE, other) == ""
    assert draft.edits == {} and draft.settings == Settings()


def test_a_reset_or_an_undo_takes_all_of_it_back() -> None:
    draft = Draft(Settings(), _implied)
    draft.set(PROFILE, "fitted")
    assert draft.reset([PROFILE]) and draft.edits == {}
    assert draft.undo() and draft.undo() and draft.edits == {}


def test_a_figure_that_the_person_set_stands() -> None:
    name = next(one for one in figure_names() if tunables()[one].kind == "number")
    mine = with_value(Settings(), name, tunables()[name].high)
    draft = Draft(mine, _implied)
    draft.set(PROFILE, "as-published")
    assert name not in draft.edits and value_of(draft.settings, name) == tunables()[name].high


def test_a_profile_nobody_knows_is_refused() -> None:
    draft = Draft(Settings(), _implied)
    assert "one of" in draft.set(PROFILE, "nonsense") and draft.edits == {}


def test_the_choice_is_saved_as_one_line(tmp_path: Path) -> None:
    draft = Draft(Settings(), _implied)
    draft.set(PROFILE, "fitted")
    files = ProfileFiles(tmp_path / "settings.toml", tmp_path, tmp_path / "chains")
    text = files.save_settings(draft.edits, "user").read_text()
    assert text.count("=") == 1 and 'profile = "fitted"' in text
