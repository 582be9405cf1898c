"""Layers of settings: the last one wins, each fault is named, nothing else is lost."""

from __future__ import annotations

import tomllib
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from core.settings import Settings
from core.settings.draft import settings_toml
from core.settings.group import canonical
from core.settings.layers import (
    Given,
    Layer,
    key_lines,
    read_assignments,
    read_environment,
    read_file,
    resolve,
    tunables,
    value_of,
    variable_name,
)

OFFSET = "receptor.ambient.offset.frustration"


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text)
    return path


def test_every_setting_has_a_sentence_and_every_number_bounds() -> None:
    for each in tunables().values():
        assert each.sentence.endswith("."), each.name
        if each.kind in ("number", "integer"):
            assert each.low is not None and each.high is not None, each.name
            assert each.low <= each.default <= each.high, each.name
        if each.kind == "number":
            assert each.step, each.name


def test_every_setting_has_an_environment_variable_of_its_own() -> None:
    assert len({variable_name(name) for name in tunables()}) == len(tunables())


def test_a_later_layer_wins(tmp_path: Path) -> None:
    file, faults = read_file(written(tmp_path, f"{OFFSET} = 0.1\n"), "person")
    environment, more = read_environment({variable_name(OFFSET): "0.3", "HOME": "/"})
    line, rest = read_assignments([f"{OFFSET}=0.15"])
    assert (faults, more, rest) == ((), (), ())
    for layers, value in (([file], 0.1), ([file, environment], 0.3), ([file, environment, line], 0.15)):
        resolved = resolve(layers)
        assert value_of(resolved.settings, OFFSET) == value
        assert resolved.origins == {OFFSET: layers[-1].origin}


@given(st.permutations([0.1, 0.2, 0.3]))
def test_the_order_of_layers_decides_and_nothing_else(values: list[float]) -> None:
    layers = [Layer(f"file {value}", (Given(OFFSET, value),)) for value in values]
    assert value_of(resolve(layers).settings, OFFSET) == values[-1]


def test_layers_that_set_different_things_may_come_in_any_order() -> None:
    names = [OFFSET, "receptor.ambient.time_constant", "receptor.ambient.silence"]
    layers = [Layer(name, (Given(name, tunables()[name].high),)) for name in names]
    assert len({canonical(resolve(order).settings) for order in permutations(layers)}) == 1


def test_a_fault_names_file_line_key_and_what_is_allowed(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '# mine\n[receptor.ambient]\ntime_constant = "slow"\ntime_konstant = 3\n\n[receptor.ambient.offset]\n'
        "seeking = 7.5\nflow = 0.3\n",
    )
    layer, faults = read_file(path, "person")
    resolved = resolve([layer])
    said = [str(complaint) for complaint in resolved.complaints]
    assert faults == ()
    assert said[0].startswith(
        f"{path}:3: receptor.ambient.time_constant: 'slow' is not allowed; it must be a number from"
    )
    unknown = "receptor.ambient.time_konstant: no such setting; did you mean receptor.ambient.time_constant?"
    assert said[1] == f"{path}:4: {unknown}"
    assert said[2].startswith(f"{path}:7: receptor.ambient.offset.seeking: 7.5 is not allowed")
    assert len(said) == 3
    assert value_of(resolved.settings, "receptor.ambient.offset.flow") == 0.3


@pytest.mark.parametrize("text", ["receptor = [", "a = 1\na = 2\n", "\x00"])
def test_a_file_that_is_not_toml_is_left_out_with_a_word(tmp_path: Path, text: str) -> None:
    layer, faults = read_file(written(tmp_path, text), "person")
    assert layer.values == ()
    assert "is not TOML" in str(faults[0])


def test_a_file_that_cannot_be_read_is_left_out_with_a_word(tmp_path: Path) -> None:
    layer, faults = read_file(tmp_path, "person")
    assert layer.values == () and "cannot be read" in str(faults[0])
    assert read_file(tmp_path / "none.toml", "person") == (Layer(str(tmp_path / "none.toml")), ())


def test_a_group_is_no_setting() -> None:
    resolved = resolve([Layer("file", (Given("receptor.ambient", 3),))])
    assert "is a group of settings" in str(resolved.complaints[0])


def test_an_unknown_variable_names_the_nearest() -> None:
    _, faults = read_environment({"NOOSCOPE_RECEPTOR_AMBIENT_TIME_CONSTANTS": "1", "NOOSCOPE_CONFIG": "x"})
    assert [str(fault) for fault in faults] == [
        "environment: NOOSCOPE_RECEPTOR_AMBIENT_TIME_CONSTANTS: no such setting; "
        "did you mean NOOSCOPE_RECEPTOR_AMBIENT_TIME_CONSTANT?"
    ]


def test_variables_that_are_no_settings_but_ours_are_not_complained_about() -> None:
    others = ("NOOSCOPE_BUILD", "NOOSCOPE_CONFIG", "NOOSCOPE_EXTENSIONS", "NOOSCOPE_NTFY_TOKEN")
    layer, faults = read_environment(dict.fromkeys(others, "x"))
    assert not layer.values and not faults


def test_an_assignment_without_a_value_is_refused() -> None:
    _, faults = read_assignments([OFFSET])
    assert str(faults[0]) == f"--set: {OFFSET}: must have the form NAME=VALUE"


def test_values_that_do_not_go_together_are_taken_back_newest_first() -> None:
    low, high = "mind.clock.theta_shortest", "mind.clock.theta_longest"
    resolved = resolve([Layer("file", (Given(high, 60.0),)), Layer("--set", (Given(low, 90.0),))])
    assert value_of(resolved.settings, high) == 60.0
    assert value_of(resolved.settings, low) == tunables()[low].default
    assert [complaint.name for complaint in resolved.complaints] == [low]


def test_the_saved_file_reads_back_as_it_was(tmp_path: Path) -> None:
    settings = resolve([Layer("file", (Given(OFFSET, 0.31),))]).settings
    text = settings_toml(tunables().values(), {name: value_of(settings, name) for name in tunables()})
    tomllib.loads(text)
    layer, faults = read_file(written(tmp_path, text), "person")
    again = resolve([layer])
    assert faults == () and again.complaints == ()
    assert again.settings == settings != Settings()


def test_key_lines_follow_tables_and_dotted_and_quoted_keys() -> None:
    text = '[a.b] # table\nc = 1\n"d.e".f = 2\n\n[ g ]\n  h.i = 3\n'
    assert key_lines(text) == {"a.b.c": 2, "a.b.d.e.f": 3, "g.h.i": 6}


def test_built_in_values_outlive_every_change() -> None:
    before = to_builtins(Settings())
    edits = {"governor.override": {"max_steps": 9}, "screen.keymap": {"app.quit": "Q"}, OFFSET: 0.1}
    changed = resolve([Layer("x", tuple(Given(*each) for each in edits.items()))]).settings
    assert changed != Settings()
    assert changed.mind is Settings().mind
    assert to_builtins(Settings()) == before


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("response.notices.quiet_from", '"25:99"', "a time such as 22:00"),
        ("response.notices.webhook", '"ftp://x"', "an address such as https://host/path"),
        ("response.notices.command", '"ls"', "a list"),
        ("response.notices.final", '["stop", 2]', "a list; 2 should be text"),
        ("screen.keymap", '{"play.on" = 5}', "a table; play.on should be text"),
        ("screen.keymap", "3", "a table"),
        ("affect.fields.persistence.triggers", '["x"]', "a list; 1 should be 'failure', 'competing'"),
        ("response.loops.tools", "{Bash = {repeat = -1}}", "a table; Bash.repeat should be"),
        ("narrator.small", '["bogus"]', "a list, each `openai MODEL [ADDRESS] [VARIABLE]`"),
    ],
)
def test_a_fault_says_in_words_what_is_allowed(name: str, value: str, allowed: str, tmp_path: Path) -> None:
    group, _, last = name.rpartition(".")
    path = tmp_path / "settings.toml"
    path.write_text(f"[{group}]\n{last} = {value}\n")
    layer, _ = read_file(path, "person")
    (fault,) = resolve([layer]).complaints
    assert f"it must be {allowed}" in str(fault)
    assert "Input" not in str(fault) and "pattern" not in str(fault)
