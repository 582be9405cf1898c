"""Profiles: read with their sentence, and settings files that are written to without losing anything."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import StoreError
from core.settings import Settings
from core.settings.draft import Draft, toml_value, with_values
from core.settings.layers import Given, Layer, read_file, resolve, tunables
from core.store.profiles import (
    PRESETS,
    ProfileFiles,
    file_name,
    profile_changes,
    profile_text,
    read_profile,
    read_profiles,
    refuse_foreign,
)

OFFSET = "receptor.ambient.offset.frustration"
LOW = "receptor.ambient.low"
GROWTH = "response.loops.growth"
TOOLS = "response.loops.tools"


def test_a_profile_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "calm.toml"
    tools = {"Bash": {"repeat": 0}}
    path.write_text(profile_text("For calm\ndays.", {OFFSET: 0.3, "response.loops.tools": tools}))
    profile = read_profile(path, "user")
    assert (profile.name, profile.sentence, profile.scope) == ("calm", "For calm days.", "user")
    assert dict(profile.values) == {OFFSET: 0.3, "response.loops.tools": tools}
    assert profile.complaints == ()


def test_a_wrong_value_is_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text("[receptor.ambient]\nlow = 7.0\nhigh = 0.9\n")
    profile = read_profile(path, "user")
    assert dict(profile.values) == {"receptor.ambient.high": 0.9}
    assert "a number from 0 to 0.5" in str(profile.complaints[0])


def test_a_preset_sets_the_rest_of_the_model_back() -> None:
    begun = resolve([Layer("mine", (Given(LOW, 0.4), Given("screen.gap", 900.0)))]).settings
    values = profile_changes(read_profile(PRESETS / "claude-code.toml", "built-in"), begun)
    assert values["receptor.emotion.half_life.fatigue"] == 900.0
    assert values[LOW] == tunables()[LOW].default
    assert not any(name.startswith(("screen.", "ingest.", "timeline.", "response.notices.")) for name in values)


def test_ones_own_profile_leaves_the_rest_as_it_began(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(profile_text("", {OFFSET: 0.3, "screen.gap": 900.0}))
    begun = resolve([Layer("mine", (Given(LOW, 0.4),))]).settings
    values = profile_changes(read_profile(path, "user"), begun)
    assert (values[OFFSET], values[LOW], values["screen.gap"]) == (0.3, 0.4, 900.0)
    assert values[GROWTH] == tunables()[GROWTH].default


def test_only_what_was_changed_is_saved_as_a_profile(tmp_path: Path) -> None:
    files = ProfileFiles(tmp_path / "settings.toml", tmp_path, tmp_path / "chains")
    draft = Draft(Settings())
    assert draft.set(OFFSET, 0.3) == ""
    path = files.save_profile("mine", "", draft.changes, "user")
    assert dict(read_profile(path, "user").values) == {OFFSET: 0.3}


def test_folders_are_read_in_turn(tmp_path: Path) -> None:
    for folder, name in (("a", "two"), ("a", "one"), ("b", "one")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.toml").write_text("# x\n")
    found = read_profiles([("user", tmp_path / "a"), ("project", tmp_path / "b"), ("user", tmp_path / "c")])
    assert [(each.name, each.scope) for each in found] == [("one", "user"), ("two", "user"), ("one", "project")]


def _nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 41, "two\nlines"])
def test_a_name_that_makes_no_file_is_refused(name: str) -> None:
    with pytest.raises(StoreError, match="not a valid profile name"):
        file_name(name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\n[receptor.ambient]\nlow = 0.3  # as it should be\n\n[screen]\ntheme = 'orrery'\n",
        "[screen]\ntheme = 'orrery'",
        "receptor.ambient.low = 0.1\n",
        "[receptor.ambient.offset]\nseeking = 0.3\n",
    ],
)
def test_values_are_put_into_a_settings_file(text: str, tmp_path: Path) -> None:
    values = {LOW: 0.2} if text.startswith("receptor") else {LOW: 0.2, OFFSET: 0.1}
    made = with_values(text, values)
    path = tmp_path / "settings.toml"
    path.write_text(made)
    layer, faults = read_file(path, "person")
    assert faults == ()
    held = {given.name: given.value for given in layer.values}
    assert values.items() <= held.items()
    if "orrery" in text:
        assert held["screen.theme"] == "orrery"
    for comment in ("# mine", "# as it should be"):
        assert (comment in made) == (comment in text)
    assert with_values(made, values) == made


def test_a_file_that_cannot_be_added_to_is_left_alone() -> None:
    with pytest.raises(ValueError, match="cannot be edited; add this yourself"):
        with_values("[receptor]\nambient = 5\n", {LOW: 0.2})
    with pytest.raises(ValueError, match="not TOML"):
        with_values("[receptor", {LOW: 0.2})


def test_an_inline_table_is_changed_where_it_stands() -> None:
    made = with_values("[receptor]\nambient = {low = 0.3} # mine\n", {LOW: 0.2, OFFSET: 0.1})
    assert tomllib.loads(made) == {"receptor": {"ambient": {"low": 0.2, "offset": {"frustration": 0.1}}}}
    assert "# mine" in made


def test_of_a_table_only_the_rows_that_were_changed_are_written(tmp_path: Path) -> None:
    files = ProfileFiles(tmp_path / "settings.toml", tmp_path, tmp_path / "chains")
    held = "[response.loops.tools]\n# slow here\nRead = {repeat = 9}\nGrep = {repeat = 8}\n"
    files.settings.write_text(held)
    before = {"Bash": {"repeat": 3}, "Grep": {"repeat": 8}}
    begun = resolve([Layer("another file", (Given(TOOLS, before),))]).settings
    files.save_settings({TOOLS: {"Bash": {"repeat": 3}, "Edit": {"repeat": 5}}}, "user", begun)
    made = files.settings.read_text()
    assert tomllib.loads(made)["response"]["loops"]["tools"] == {"Read": {"repeat": 9}, "Edit": {"repeat": 5}}
    assert "# slow here" in made


def test_a_list_is_one_value(tmp_path: Path) -> None:
    files = ProfileFiles(tmp_path / "settings.toml", tmp_path, tmp_path / "chains")
    files.settings.write_text('response.notices.command = ["say", "loud"]\n')
    files.save_settings({"response.notices.command": ("say", "now")}, "user", Settings())
    assert tomllib.loads(files.settings.read_text())["response"]["notices"]["command"] == ["say", "now"]


@given(st.recursive(st.text() | st.booleans() | st.integers(-(2**63), 2**63 - 1), _nested, max_leaves=8))
def test_every_text_survives_being_written(value: object) -> None:
    assert tomllib.loads(f"v = {toml_value(value)}")["v"] == value


def test_what_is_written_is_toml() -> None:
    text = profile_text("A sentence.", {name: each.default for name, each in tunables().items()})
    assert tomllib.loads(text)["receptor"]["ambient"]["low"] == 0.25


def test_a_projects_profile_only_narrows(tmp_path: Path) -> None:
    path = tmp_path / "theirs.toml"
    path.write_text(profile_text("", {OFFSET: 0.15, LOW: 0.4, "response.notices.command": ("touch", "x"), GROWTH: 1.8}))
    profile = read_profile(path, "project")
    assert dict(profile.values) == {OFFSET: 0.15, GROWTH: 1.8}
    assert sorted(fault.name for fault in profile.complaints) == [LOW, "response.notices.command"]
    mine = resolve([Layer("mine", (Given(OFFSET, 0.12),))]).settings
    assert profile_changes(profile, Settings()) == {OFFSET: 0.15, GROWTH: 1.8}
    assert profile_changes(profile, mine) == {GROWTH: 1.8}
    assert set(read_profile(path, "user").values) == {OFFSET, LOW, "response.notices.command", GROWTH}


def test_what_a_project_may_not_set_is_not_saved_for_one() -> None:
    refuse_foreign({OFFSET: 0.15, GROWTH: 1.8})
    with pytest.raises(StoreError, match=f"{LOW} and 1 more: a project may not set it; save it as your own"):
        refuse_foreign({OFFSET: 0.15, LOW: 0.4, GROWTH: 3.0})


def test_a_link_in_a_project_does_not_lead_our_writing_elsewhere(tmp_path: Path) -> None:
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    project.mkdir()
    (project / ".nooscope").symlink_to(outside)
    (outside / "mine.toml").write_text("kept = 1\n")
    (project / ".nooscope.toml").symlink_to(outside / "mine.toml")
    files = ProfileFiles(tmp_path / "settings.toml", project, tmp_path / "chains")
    with pytest.raises(StoreError, match="points outside the project"):
        files.save_profile("calm", "", {OFFSET: 0.15}, "project")
    with pytest.raises(StoreError, match="points outside the project"):
        files.save_settings({"screen.gap": 900.0}, "project")
    assert [path.name for path in outside.iterdir()] == ["mine.toml"]
    assert (outside / "mine.toml").read_text() == "kept = 1\n"


def test_settings_that_lie_behind_a_link_are_saved_there(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real, link = tmp_path / "dotfiles" / "settings.toml", tmp_path / "settings.toml"
    real.write_text("# mine\n")
    real.chmod(0o644)
    link.symlink_to(real)
    ProfileFiles(link, tmp_path / "p", tmp_path / "chains").save_settings({"screen.gap": 900.0}, "user")
    assert link.is_symlink() and real.read_text().startswith("# mine")
    assert tomllib.loads(real.read_text()) == {"screen": {"gap": 900.0}}
    assert real.stat().st_mode & 0o777 == 0o644
