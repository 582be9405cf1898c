"""One setting chooses the figures of the receptor."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from tui.cli.options import settings_from
from tui.cli.recordings import edits_of


@pytest.mark.parametrize(
    ("profile", "half_life", "bounded"),
    [("default", 180.0, True), ("fitted", 1.0, True), ("as-published", 180.0, False)],
)
def test_the_profile_lies_below_other_settings(
    tmp_path: Path, profile: str, half_life: float, bounded: bool
) -> None:
    given = [f"receptor.profile={profile}", "receptor.impulse.shell_failure.frustration=0.5"]
    settings = settings_from(argparse.Namespace(assignments=given, project=tmp_path)).settings
    assert settings.receptor.profile == profile
    assert settings.receptor.emotion.half_life.frustration == half_life
    assert settings.receptor.flow.bounded is bounded
    assert settings.receptor.impulse.shell_failure.frustration == 0.5


def test_choosing_a_profile_is_an_edit_of_every_figure_it_names(tmp_path: Path) -> None:
    given = ["receptor.profile=as-published"]
    settings = settings_from(argparse.Namespace(assignments=given, project=tmp_path)).settings
    edits = edits_of(settings, given)
    assert edits["receptor.profile"] == "as-published"
    assert edits["receptor.impulse.shell_failure.frustration"] == 0.1
    assert edits["receptor.flow.bounded"] is False
    assert edits_of(settings, ["receptor.neuron.hold=4"]).keys() == {"receptor.neuron.hold"}
