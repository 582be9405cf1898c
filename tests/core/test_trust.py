"""What a watched project may do with each setting, at, below and above where it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.settings import Settings, layers
from core.settings.group import (
    FEWER,
    ON,
    PERSON,
    PROJECT,
    Group,
    Owner,
    Spec,
    Trust,
    Tunable,
    higher,
    lower,
    walk_tunables,
)
from core.settings.layers import Given, Layer, Resolved, read_file, resolve, tunables, value_of

OFFSET = "receptor.ambient.offset.frustration"


def test_a_setting_is_the_persons_unless_it_says_otherwise() -> None:
    class Inner(Group):
        size: Annotated[int, Spec("A size.")] = 1
        loud: Annotated[bool, Spec("Loud.", project=ON)] = True

    class Heir(Inner):
        more: int = 1

    assert [(each.name, each.trust) for each in walk_tunables(Heir)] == [
        ("size", PERSON),
        ("loud", ON),
        ("more", PERSON),
    ]


@pytest.mark.parametrize(
    ("trust", "value", "standing", "may"),
    [
        (PERSON, 2, 1, False),
        (PERSON, 1, 1, True),
        (PROJECT, 2, 1, True),
        (lower(0.1), 0.1, 0.2, True),
        (lower(0.1), 0.09, 0.2, False),
        (lower(0.1), 0.2, 0.2, True),
        (lower(0.1), 0.21, 0.2, False),
        (lower(0.1), 0.05, 0.05, True),
        (lower(0.1), 0.1, 0.05, False),
        (higher(0.5), 0.5, 0.2, True),
        (higher(0.5), 0.51, 0.2, False),
        (higher(0.5), 0.19, 0.2, False),
        (higher(0.5), 0.5, 0.6, False),
        (ON, True, False, True),
        (ON, False, True, False),
        (ON, False, False, True),
        (FEWER, ("a",), ("a", "b"), True),
        (FEWER, (), ("a", "b"), True),
        (FEWER, ("c",), ("a", "b"), False),
    ],
)
def test_how_far_a_project_may_go(trust: Trust, value: Any, standing: Any, may: bool) -> None:
    assert trust.allows(value, standing) is may


def test_every_range_lies_between_the_default_and_a_bound() -> None:
    for each in tunables().values():
        if each.trust.way == "lower":
            assert each.low is not None and each.low <= each.trust.limit <= each.default, each.name
        if each.trust.way == "higher":
            assert each.high is not None and each.high >= each.trust.limit >= each.default, each.name
        if each.trust.way == "on":
            assert each.kind == "switch" and each.default is True, each.name


@pytest.mark.parametrize(
    "prefix",
    [
        "response.notices.command",
        "response.notices.webhook",
        "response.notices.muted",
        "response.notices.quiet_",
        "response.notices.asking",
        "response.notices.bell",
        "response.persona.",
        "response.prior.",
        "response.learning.",
        "response.queue.",
        "response.loops.tools",
        "ingest.tables.",
        "ingest.lines.",
        "ingest.follow.",
        "timeline.cache.",
        "timeline.checkpoints.",
        "screen.keymap",
        "screen.theme",
        "screen.fleet.",
        "mind.habituation.",
        "mind.tiers.gate_",
        "receptor.impulse.",
        "receptor.emotion.half_life.",
        "receptor.meta.",
        "receptor.heatmap.shift",
        "governor.override",
        "governor.profile",
        "governor.inputs.",
    ],
)
def test_what_runs_sends_writes_reads_or_silences_is_the_persons(prefix: str) -> None:
    found = [each for each in tunables().values() if each.name.startswith(prefix)]
    assert found
    assert {each.trust.name for each in found} == {"person only"}


@pytest.mark.parametrize("kind", ["needs_you", "risk", "done"])
def test_alerts_can_only_be_turned_on(kind: str) -> None:
    name = f"response.notices.{kind}"
    assert value_of(over(name, False).settings, name) is True
    assert value_of(over(name, True, Layer("mine", (Given(name, False),))).settings, name) is True


def test_paths_are_never_a_projects_to_name() -> None:
    texts = [each for each in tunables().values() if each.kind == "text"]
    assert {each.trust.name for each in texts} == {"person only"}


def over(name: str, value: Any, *below: Layer) -> Resolved:
    return resolve([*below, Layer("/p/.nooscope.toml", (Given(name, value, 3),), "project")])


def bounds(each: Tunable) -> st.SearchStrategy[Any]:
    if each.kind == "switch":
        return st.booleans()
    if each.kind == "integer":
        return st.integers(int(each.low or 0), int(each.high or 0))
    return st.floats(each.low, each.high, allow_nan=False)


NUMBERS = [each for each in tunables().values() if each.kind in ("switch", "integer", "number")]


@st.composite
def wishes(draw: st.DrawFn) -> tuple[Tunable, Any, Any]:
    """A setting, what a person says of it, what a project does."""
    each = draw(st.sampled_from(NUMBERS))
    return each, draw(st.none() | bounds(each)), draw(bounds(each))


@given(wishes())
def test_a_project_never_moves_a_setting_further_than_it_may(wish: tuple[Tunable, Any, Any]) -> None:
    each, person, project = wish
    mine = [] if person is None else [Layer("mine", (Given(each.name, person),))]
    alone = resolve(mine)
    standing = value_of(alone.settings, each.name)
    both = over(each.name, project, *mine)
    got = value_of(both.settings, each.name)
    assert got in (standing, project)
    assert each.trust.allows(got, standing)
    told = [fault for fault in both.complaints if fault.origin != "mine"]
    assert len(told) == (got != project)
    if told:
        assert str(told[0]).startswith(f"/p/.nooscope.toml:3: {each.name}: ")


@given(wishes())
def test_the_person_may_set_all(wish: tuple[Tunable, Any, Any]) -> None:
    each, _, value = wish
    found = resolve([Layer("mine", (Given(each.name, value),))])
    assert value_of(found.settings, each.name) == value or "does not fit" in str(found.complaints[0])


def test_what_is_refused_is_said_with_what_it_may_be() -> None:
    (fault,) = over(OFFSET, 0.4).complaints
    assert str(fault) == (
        f"/p/.nooscope.toml:3: {OFFSET}: 0.4 is ignored: it is 0.2, and a project may only lower it, down to 0.1"
    )
    (fault,) = over("response.notices.command", ["touch", "x"]).complaints
    assert str(fault).endswith(
        "response.notices.command: only your own settings may set it; a project's value is ignored"
    )


@pytest.mark.parametrize("owner", ["person", "project"])
def test_of_values_that_do_not_go_together_the_newest_goes_and_what_stood_before_stands_again(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    low, high = "mind.clock.gamma_shortest", "mind.clock.gamma_longest"
    free = {**tunables(), high: tunables()[high]._replace(trust=PROJECT)}
    monkeypatch.setattr(layers, "tunables", lambda: free)
    mine = Layer("mine", (Given(high, 20.0), Given(low, 12.0)))
    found = resolve([mine, Layer("late", (Given(high, 3.0),), owner)])
    assert [(fault.origin, fault.name) for fault in found.complaints] == [("late", high)]
    assert value_of(found.settings, low) == 12.0
    assert value_of(found.settings, high) == 20.0
    assert found.origins[high] == "mine"


def test_of_values_that_do_not_go_together_a_projects_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    low, high = "mind.clock.gamma_shortest", "mind.clock.gamma_longest"
    free = {**tunables(), high: tunables()[high]._replace(trust=PROJECT)}
    monkeypatch.setattr(layers, "tunables", lambda: free)
    found = resolve([Layer("theirs", (Given(high, 8.0),), "project"), Layer("mine", (Given(low, 12.0),))])
    assert [fault.origin for fault in found.complaints] == ["theirs"]
    assert value_of(found.settings, low) == 12.0


def test_a_value_inside_a_table_written_in_one_line_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / ".nooscope.toml"
    path.write_text('\n\nresponse = {notices = {command = ["x"]}}\n')
    layer, faults = read_file(path, "project")
    assert faults == ()
    (fault,) = resolve([layer]).complaints
    assert (fault.name, fault.line) == ("response.notices.command", 3)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "{b=" * 3000 + "1" + "}" * 3000,
        ".".join(["a"] * 3000) + " = 1\n",
        "a = " + "9" * 5000 + "\n",
        "a = '''\n" + ("[" + " " * 100_000 + "\n") * 5 + "'''\n",
        "".join(f"k{number} = 1\n" for number in range(20_000)),
        'screen.gap = "' + "x" * 900_000 + '"\n',
    ],
    ids=["deep list", "deep table", "deep name", "long number", "long line", "many names", "long value"],
)
def test_a_file_meant_to_stop_us_costs_only_itself(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".nooscope.toml"
    path.write_text(text)
    layer, faults = read_file(path, "project")
    found = resolve([layer])
    said = [*faults, *found.complaints]
    assert found.settings == Settings()
    assert 1 <= len(said) <= 51
    assert all(len(str(each)) < 1000 for each in said)
