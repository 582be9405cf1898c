"""Permits hold for one call, once, for a while, and nothing else makes or bends one."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

import core.engine.response.permits as module
from core.engine.response.permits import Asked, Bound, Decision, Permit, PermitPolicy, Safety, Standing
from core.errors import PermitRefused
from core.settings.response import GuardSettings

SETTINGS = GuardSettings()
WRITE = Asked("s", "Write", b'{"path":"a.py"}', targets=("a.py",))
REMOVE = Asked("s", "Bash", b"{}", "rm -rf x", tier="privileged", why="it destroys")
READ = Asked("s", "Read", b"{}", targets=("a.py",), tier="read", why="it only reads")
OWN = REMOVE._replace(own=True)


def safety(key: bytes = b"key", **settings: Any) -> Safety:
    return Safety(GuardSettings(**settings), key)


def issued(one: Safety, asked: Asked = WRITE, at: float = 0.0) -> Permit:
    return one.permit(asked, one.policy.decide(asked, Standing()), at, approved=True)


@pytest.mark.parametrize(
    ("asked", "settings", "tier"),
    [
        (READ, {}, "read"),
        (WRITE, {}, "write"),
        (WRITE, {"read": ("Wri*",)}, "read"),
        (WRITE, {"read": ("Wri*",), "write": ("Write",)}, "write"),
        (READ, {"write": ("Read",)}, "write"),
        (READ, {"privileged": ("Read",)}, "privileged"),
        (REMOVE, {}, "privileged"),
        (REMOVE, {"read": ("Bash",)}, "privileged"),
        (OWN, {"read": ("Bash",), "write": ("Bash",)}, "privileged"),
    ],
)
def test_the_strictest_tier_that_fits_holds(asked: Asked, settings: dict[str, Any], tier: str) -> None:
    assert PermitPolicy(GuardSettings(**settings)).tier(asked)[0] == tier


@pytest.mark.parametrize(
    ("asked", "standing", "settings", "verdict"),
    [
        (READ, Standing("exhaustion"), {}, "pass"),
        (WRITE, Standing(), {}, "permit"),
        (WRITE, Standing("exhaustion"), {}, "deny"),
        (REMOVE, Standing("exhaustion"), {}, "deny"),
        (WRITE, Standing("external", fuse=True), {}, "permit"),
        (WRITE, Standing("external", fuse=True), {"steps": True}, "deny"),
        (REMOVE, Standing(), {}, "person"),
        (WRITE, Standing(trust=0.59), {}, "permit"),
        (WRITE, Standing(trust=0.6), {}, "person"),
        (READ, Standing(trust=1.0), {}, "pass"),
        (WRITE, Standing(budget=0.0), {}, "person"),
        (WRITE, Standing(budget=0.01), {}, "permit"),
        (WRITE, Standing(budget=0.2), {"budget": 0.2}, "person"),
        (WRITE, Standing(budget=0.21), {"budget": 0.2}, "permit"),
        (READ, Standing(budget=0.0), {}, "pass"),
        (WRITE, Standing(trust=0.9), {"tool_trust": 1.0}, "permit"),
        (WRITE, Standing("exhaustion", trust=1.0), {}, "deny"),
    ],
)
def test_what_becomes_of_a_call(asked: Asked, standing: Standing, settings: dict[str, Any], verdict: str) -> None:
    assert PermitPolicy(GuardSettings(**settings)).decide(asked, standing).verdict == verdict


@given(st.sampled_from(("read", "write", "privileged")), st.text(max_size=8), st.floats(0, 1))
def test_halted_there_is_nothing_but_reading(tier: Any, tool: str, budget: float) -> None:
    one = safety()
    asked = WRITE._replace(tier=tier, tool=tool)
    decision = one.policy.decide(asked, Standing("safety", budget=budget))
    assert decision.verdict in ("pass", "deny") and (decision.tier == "read") is (decision.verdict == "pass")
    with pytest.raises(PermitRefused):
        one.permit(asked, decision, 0.0, approved=True)


def test_a_permit_is_used_once() -> None:
    one = safety()
    permit = issued(one)
    one.use(permit, WRITE, 1.0)
    with pytest.raises(PermitRefused, match="used already"):
        one.use(permit, WRITE, 2.0)


@pytest.mark.parametrize(("at", "holds"), [(119.999, True), (120.0, False), (120.001, False)])
def test_a_permit_expires(at: float, holds: bool) -> None:
    one = safety(lifetime=120.0)
    permit = issued(one)
    if holds:
        one.use(permit, WRITE, at)
    else:
        with pytest.raises(PermitRefused, match="expired"):
            one.use(permit, WRITE, at)


@pytest.mark.parametrize(
    "other", [WRITE._replace(arguments=b"{}"), WRITE._replace(session="t"), WRITE._replace(tool="Edit")]
)
def test_a_permit_is_for_one_call(other: Asked) -> None:
    one = safety()
    permit = issued(one)
    with pytest.raises(PermitRefused, match="another call"):
        one.use(permit, other, 1.0)
    with pytest.raises(PermitRefused, match="used already"):
        one.use(permit, WRITE, 1.0)


def test_a_permit_of_another_policy_or_key_does_not_hold() -> None:
    with pytest.raises(PermitRefused, match="forged"):
        safety(b"other").use(issued(safety()), WRITE, 1.0)
    with pytest.raises(PermitRefused, match="used already"):
        safety().use(issued(safety()), WRITE, 1.0)
    one, stricter = safety(), safety(write=("x",))
    permit = issued(one)
    stricter._out.update(one._out)
    with pytest.raises(PermitRefused, match="another call"):
        stricter.use(permit, WRITE, 1.0)


def test_a_permit_cannot_be_made_copied_or_written_down() -> None:
    with pytest.raises(PermitRefused):
        Permit(object(), 1, Bound("s", "Write", "", ""), 9.0, b"")
    permit = issued(safety())
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PermitRefused):
            attempt(permit)


def test_a_forged_permit_does_not_use_up_the_real_one() -> None:
    one = safety()
    permit = issued(one)
    forged = Permit(module._MINT, permit.number, permit._bound, 1e12, b"\0" * 32)
    with pytest.raises(PermitRefused, match="forged"):
        one.use(forged, WRITE, 1.0)
    one.use(permit, WRITE, 1.0)


def test_what_needs_the_person_needs_their_approval() -> None:
    one = safety()
    decision = one.policy.decide(REMOVE, Standing())
    with pytest.raises(PermitRefused, match="not approved"):
        one.permit(REMOVE, decision, 0.0)
    one.use(one.permit(REMOVE, decision, 0.0, approved=True), REMOVE, 1.0)
    with pytest.raises(PermitRefused):
        one.permit(READ, Decision("pass", "read", ""), 0.0, approved=True)


def test_affect_is_no_input() -> None:
    """Nothing of the kind is imported, and what is handed in has no room for it."""
    assert set(get_type_hints(Standing)) == {"halt", "fuse", "budget", "trust"}
    tree = ast.parse(Path(module.__file__).read_text())
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in names if name and name.startswith("core.")} == {
        "core.errors",
        "core.settings.response",
        "core.settings.group",
    }
