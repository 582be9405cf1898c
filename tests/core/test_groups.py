"""Groups of settings: plain defaults, and values from outside checked by pydantic."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Annotated, Any, Literal

import pytest

from core.settings import Settings
from core.settings.governor import GovernorSettings
from core.settings.group import Group, Invalid, Spec
from core.settings.layers import BUILT_IN_SETTINGS, Given, Layer, resolve, tunables

Share = Annotated[float, Spec(ge=0, le=1)]


class Inner(Group):
    """A part."""

    size: Annotated[int, Spec("A size.", 1, 5)] = 3


class Outer(Group):
    """Something with every kind of value."""

    name: Annotated[str, Spec(pattern=r"^[a-z]+$", before=lambda value: str(value).lower())]
    share: Annotated[float | None, Spec(ge=0, le=1)] = None
    shares: dict[str, Share] = {}
    words: Annotated[tuple[Literal["a", "b"], ...], Spec(min_length=1)] = ("a",)
    inner: Inner = Inner()
    maybe: Inner | None = None

    def __post_init__(self) -> None:
        if self.name == "none" and self.shares:
            raise ValueError("none has no shares")


def parse(**values: Any) -> Outer:
    return Outer.parse({"name": "x", **values})


def test_values_that_fit_are_taken() -> None:
    outer = parse(name="ABC", share=1, shares={"k": 0}, words=["b", "a"], inner={"size": 5}, maybe={"size": 1})
    assert outer == Outer(
        name="abc", share=1.0, shares={"k": 0.0}, words=("b", "a"), inner=Inner(size=5), maybe=Inner(size=1)
    )
    assert type(outer.share) is float


@pytest.mark.parametrize(
    ("values", "where", "kind"),
    [
        ({"share": 1.01}, ("share",), "less_than_equal"),
        ({"share": -0.01}, ("share",), "greater_than_equal"),
        ({"share": float("inf")}, ("share",), "finite_number"),
        ({"shares": {"k": 2}}, ("shares", "k"), "less_than_equal"),
        ({"name": "a-b"}, ("name",), "string_pattern_mismatch"),
        ({"words": []}, ("words",), "too_short"),
        ({"words": ["a", "c"]}, ("words", 1), "literal_error"),
        ({"inner": {"size": 0}}, ("inner", "size"), "greater_than_equal"),
        ({"inner": {"other": 1}}, ("inner", "other"), "extra_forbidden"),
        ({"maybe": {"size": 6}}, ("maybe", "size"), "less_than_equal"),
        ({"other": 1}, ("other",), "extra_forbidden"),
        ({"name": "none", "shares": {"k": 0}}, (), "value_error"),
    ],
)
def test_a_value_that_does_not_fit_is_named(values: dict[str, Any], where: tuple[int | str, ...], kind: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(**values)
    assert [(fault["loc"], fault["type"]) for fault in caught.value.errors()] == [(where, kind)]


def test_a_required_value_is_missed() -> None:
    with pytest.raises(Invalid):
        Outer.parse({})


def test_a_group_is_frozen() -> None:
    outer = parse()
    with pytest.raises(AttributeError):
        outer.name = "y"  # type: ignore[misc]
    changed = outer.replace(name="y")
    assert (outer.name, changed.name) == ("x", "y") and outer != changed
    with pytest.raises(ValueError, match="none has no shares"):
        parse(shares={"k": 1}).replace(name="none")


def test_a_default_table_is_not_shared() -> None:
    parse().shares["k"] = 1.0
    assert parse().shares == {} and Outer(name="z").shares == {}


def test_copies_are_equal() -> None:
    settings = Settings()
    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 our own
    assert copy.deepcopy(settings) == settings
    assert hash(settings.receptor.ambient) == hash(Settings().receptor.ambient)


def test_an_object_of_the_class_is_taken_as_it_is() -> None:
    inner = Inner(size=2)
    assert parse(inner=inner).inner is inner


def test_the_number_in_the_source_is_the_number_that_runs() -> None:
    for name, tunable in tunables().items():
        value: Any = Settings()
        for step in name.split("."):
            value = getattr(value, step)
        assert value == tunable.default
    assert Settings.parse({}) == Settings()


def test_a_start_with_built_in_values_does_not_import_what_checks_others() -> None:
    code = (
        "import sys\n"
        "from core.settings.layers import resolve\n"
        "import core.engine.society.engine\n"
        "resolve(())\n"
        "print('pydantic' in sys.modules)\n"
        "from core.settings.governor import GovernorSettings\n"
        "GovernorSettings.parse({'profile': 'observing'})\n"
        "print('pydantic' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_figure_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="override has a value"):
        GovernorSettings(override={"nope": 1.0})


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_an_infinite_figure_is_left_out_and_reported(value: float) -> None:
    resolved = resolve([Layer("test", (Given("governor.override", {"max_risk": value}),))])
    assert resolved.settings == Settings()
    (complaint,) = resolved.complaints
    assert "finite number" in str(complaint)


def test_only_the_groups_that_changed_are_new() -> None:
    settings = resolve([Layer("test", (Given("mind.clock.pending", 4),))]).settings
    assert settings.mind.clock.pending == 4
    assert settings.receptor is BUILT_IN_SETTINGS.receptor
    assert settings.mind.clock is not BUILT_IN_SETTINGS.mind.clock
