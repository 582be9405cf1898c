from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Annotated, Any, Literal

import pytest

from core.settings import Settings
from core.settings.closed import Closed, as_plain
from core.settings.declared import Bounds, Declared, Invalid, limited
from core.settings.governor import GovernorSettings
from core.settings.layers import Given, Layer, resolve

Share = Annotated[float, Bounds(ge=0, le=1)]


class Inner(Closed):
    """A part."""

    size: int = limited(3, ge=1, le=5)


class Outer(Closed):
    """Something with every kind of value."""

    name: str = limited(pattern=r"^[a-z]+$", before=lambda given: str(given).lower())
    share: float | None = limited(None, ge=0, le=1)
    shares: dict[str, Share] = limited({})
    words: tuple[Literal["a", "b"], ...] = limited(("a",), min_length=1)
    inner: Inner = Declared(group=Inner)  # type: ignore[assignment]
    maybe: Inner | None = None

    def check(self) -> None:
        if self.name == "none" and self.shares:
            raise ValueError("none has no shares")


def made(**given: Any) -> Outer:
    return Outer.model_validate({"name": "x", **given})


def fault(**given: Any) -> tuple[tuple[int | str, ...], str]:
    with pytest.raises(Invalid) as caught:
        made(**given)
    (one,) = caught.value.errors()
    return one["loc"], one["type"]


def test_values_that_fit_are_taken() -> None:
    found = made(name="ABC", share=1, shares={"k": 0}, words=["b", "a"], inner={"size": 5}, maybe={"size": 1})
    assert found == Outer(
        name="abc", share=1.0, shares={"k": 0.0}, words=("b", "a"), inner=Inner(size=5), maybe=Inner(size=1)
    )
    assert found.inner.size == 5 and found.words == ("b", "a") and type(found.share) is float


@pytest.mark.parametrize(
    ("given", "where", "kind"),
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
def test_a_value_that_does_not_fit_is_named(
    given: dict[str, Any], where: tuple[int | str, ...], kind: str
) -> None:
    assert fault(**given) == (where, kind)


def test_what_must_be_given_is_missed() -> None:
    with pytest.raises(Invalid):
        Outer()
    with pytest.raises(Invalid):
        Inner(size=9)


def test_nothing_of_it_changes() -> None:
    found = made()
    with pytest.raises(AttributeError, match="cannot be changed"):
        found.name = "y"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot be taken away"):
        del found.name
    changed = found.model_copy(update={"name": "y"})
    assert (found.name, changed.name) == ("x", "y") and found != changed


def test_a_default_that_could_be_changed_is_ones_own() -> None:
    made().shares["k"] = 1.0
    assert made().shares == {} and Outer.model_construct(name="z").shares == {}


def test_copies_are_equal() -> None:
    chosen = Settings()
    assert pickle.loads(pickle.dumps(chosen)) == chosen  # noqa: S301 our own
    assert copy.deepcopy(chosen) == chosen
    assert hash(chosen.receptor.ambient) == hash(Settings().receptor.ambient)


def test_an_object_of_the_class_is_taken_as_it_is() -> None:
    inner = Inner(size=2)
    assert made(inner=inner).inner is inner


def test_plain_values_write_fractions_as_such() -> None:
    class Figures(Closed):
        whole: int = 1
        part: float = 2
        none: float | None = None

    written = Figures().model_dump(mode="json")
    assert {name: type(value) for name, value in written.items()} == {
        "whole": int,
        "part": float,
        "none": type(None),
    }
    assert type(Figures().model_dump()["part"]) is int
    assert Figures().model_dump(exclude_none=True) == {"whole": 1, "part": 2}
    assert as_plain((Inner(), {"a": (1,)})) == [{"size": 3}, {"a": [1]}]
    assert made().model_dump()["words"] == ("a",)


def test_settings_are_declared_without_what_checks_them() -> None:
    code = (
        "import sys\n"
        "from core.settings.layers import resolve\n"
        "import core.engine.engine\n"
        "resolve(())\n"
        "print('pydantic' in sys.modules)\n"
        "from core.settings.governor import GovernorSettings\n"
        "GovernorSettings(profile='observing')\n"
        "print('pydantic' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_figure_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Invalid, match="override names a figure"):
        GovernorSettings(override={"nope": 1.0})


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_figure_without_end_is_left_out_and_told(value: float) -> None:
    resolved = resolve([Layer("test", (Given("governor.override", {"max_risk": value}),))])
    assert resolved.settings == Settings()
    (complaint,) = resolved.complaints
    assert "finite number" in str(complaint)


def test_only_the_groups_that_changed_are_others() -> None:
    settings = resolve([Layer("test", (Given("mind.clock.pending", 4),))]).settings
    assert settings.mind.clock.pending == 4
    assert settings.receptor is Settings.built_in().receptor
    assert settings.mind.clock is not Settings.built_in().mind.clock
