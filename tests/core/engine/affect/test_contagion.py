"""What passes between agents: inheritance, return and contagion, each bounded and on the record."""

from __future__ import annotations

import random
from itertools import pairwise

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.affect.affect import Affect
from core.engine.affect.contagion import Channel, Emission, Zone
from core.engine.affect.fields import FIELDS
from core.engine.affect.lineage import describe_entry
from core.engine.society.society import Commons, Peer
from core.events import ToolUse
from core.settings.affect import AffectSettings
from tests.core.engine.affect.stories import START, hammer, percept, shell, values

SETTINGS = AffectSettings()
QUIET = ToolUse(at=START, action="file_read")
LIVE: tuple[Channel, ...] = ("down", "up", "tree", "broadcast")


def worn(count: int = 12) -> Affect:
    affect = Affect(SETTINGS)
    hammer(affect, count, False, every=20.0)
    assert not affect.quarantined
    return affect


def test_inheritance_follows_the_mask_and_both_lineages_tell() -> None:
    parent, child = worn(), Affect(SETTINGS)
    before = parent.deviations
    gift = parent.hand_down("child", 1)
    assert gift is not None
    entry = child.receive(gift, "inheritance", "main")
    assert entry is not None
    blend, half = SETTINGS.inheritance.blend, SETTINGS.inheritance.attenuation
    factors = {"inherited": 1.0, "attenuated": half, "excluded": 0.0}
    for name, mine, theirs in zip(FIELDS, child.deviations, before, strict=True):
        mask = getattr(SETTINGS.fields, name).inherits
        assert mine == pytest.approx(theirs * factors[mask] * blend, abs=1e-12)
    told, given_ = describe_entry(entry), describe_entry(parent.lineage.entries[-1])
    assert (told.act, told.source) == ("inherited", "main")
    assert (given_.act, given_.source, given_.changes) == ("bequeathed", "child", ())
    assert told.partner == given_.digest
    assert parent.deviations == before
    assert child.read().volatility == 0.0


def test_inheritance_ends_at_the_depth_limit() -> None:
    parent = worn()
    assert parent.hand_down("c", SETTINGS.inheritance.depth) is not None
    count = parent.lineage.count
    assert parent.hand_down("c", SETTINGS.inheritance.depth + 1) is None
    assert parent.lineage.count == count


def test_return_follows_the_mask_within_the_rate_limit() -> None:
    child, parent = worn(20), Affect(SETTINGS)
    gift = child.report("main")
    assert gift is not None
    entry = parent.receive(gift, "return", "child")
    assert entry is not None
    for field, name in zip(parent.read().fields, FIELDS, strict=True):
        if getattr(SETTINGS.fields, name).returns == "excluded":
            assert field.magnitude == field.rest
        else:
            assert abs(field.magnitude - field.rest) <= field.rate_limit
    assert values(parent)["risk_sensitivity"] > 0.4
    assert describe_entry(entry).act == "returned"
    assert describe_entry(child.lineage.entries[-1]).act == "reported"


def test_policy_of_the_receiver_decides_who_may_move_it() -> None:
    closed = {name: {"authority": ["self"]} for name in FIELDS}
    deaf = Affect(AffectSettings.parse({"fields": closed}))
    loud = Emission((0.4,) * 7, bytes(32))
    for channel in LIVE:
        entry = deaf.receive(loud, channel, "x")
        assert entry is not None
        assert all(change.cuts == ("authority",) for change in describe_entry(entry).changes)
    untriggered = {name: {"triggers": ["failure"]} for name in FIELDS}
    stubborn = Affect(AffectSettings.parse({"fields": untriggered}))
    entry = stubborn.receive(loud, "tree", "x")
    assert entry is not None and all(change.cuts == ("trigger",) for change in describe_entry(entry).changes)
    assert deaf.deviations == stubborn.deviations == (0.0,) * 7


def test_each_hop_weakens() -> None:
    chain = [worn(20)] + [Affect(SETTINGS) for _ in range(5)]
    for _ in range(60):
        shown = [affect.show() for affect in chain]
        for emission, heir in zip(shown, chain[1:], strict=False):
            if emission is not None:
                heir.receive(emission, "down", "up the chain")
    risk = FIELDS.index("risk_sensitivity")
    levels = [affect.deviations[risk] for affect in chain]
    assert levels[1] > 0.02
    for upper, lower in pairwise(levels):
        assert lower <= SETTINGS.contagion.delegation * upper + 1e-12


def test_near_rest_nothing_is_shown() -> None:
    assert Affect(SETTINGS).show() is None
    assert worn().show() is not None


def test_a_window_holds_a_limited_shift() -> None:
    rules = AffectSettings.parse({"contagion": {"strength": 1.0, "delegation": 0.95, "least": 0.01}})
    affect = Affect(rules)
    now, shifts = 0.0, [0.0] * 7
    window: list[tuple[float, list[float]]] = []
    for step in range(300):
        now += 13.0
        affect.step(QUIET, percept(now), 0.0)
        before = affect.deviations
        sign = 1 if step % 2 else -1
        affect.receive(Emission((0.4 * sign,) * 7, bytes(32)), "down", "x")
        moved = [abs(a - b) for a, b in zip(affect.deviations, before, strict=True)]
        window.append((now, moved))
        window = [(at, move) for at, move in window if at > now - rules.contagion.window]
        for place, name in enumerate(FIELDS):
            total = sum(move[place] for _, move in window)
            assert total <= getattr(rules.fields, name).contagion_limit + 1e-9
            shifts[place] += moved[place]
    assert all(shift > 0.1 for shift in shifts)
    cuts = [cut for entry in affect.lineage.entries for change in describe_entry(entry).changes for cut in change.cuts]
    assert "contagion" in cuts or "rate" in cuts


def test_a_spiral_is_suppressed_until_calm() -> None:
    zone = Zone(SETTINGS.contagion)
    high, low = [(0.5,) * 7] * 3, [(0.0,) * 7] * 3
    for _ in range(10):
        zone.update(high)
    assert zone.read().spirals == FIELDS
    again = Zone(SETTINGS.contagion)
    again.load(cbor2.loads(cbor2.dumps(zone.dump())))
    assert again.read() == zone.read() and again.factors == zone.factors
    loud = Emission((0.4,) * 7, bytes(32))
    free, held = Affect(SETTINGS), Affect(SETTINGS)
    free.receive(loud, "tree", "x")
    entry = held.receive(loud, "tree", "x", zone.factors)
    assert entry is not None and all("spiral" in change.cuts for change in describe_entry(entry).changes)
    for mine, theirs in zip(held.deviations, free.deviations, strict=True):
        assert mine == pytest.approx(theirs * SETTINGS.contagion.suppression)
    rounds = 0
    while zone.read().spirals:
        zone.update(low)
        rounds += 1
    assert 2 < rounds < 20


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=25)
def test_contagion_among_fifty_stays_bounded_and_dies_out(seed: int, harsh: bool) -> None:
    """A random society: a stretch of events with contagion, then silence with contagion going on."""
    dice = random.Random(seed)  # noqa: S311
    strong = {"strength": 1.0, "delegation": 0.95, "tree": 0.95, "broadcast": 0.95, "spiral": 0.7, "suppression": 1.0}
    rules = AffectSettings.parse({"contagion": strong} if harsh else {})
    agents = [Affect(rules, seed=number) for number in range(50)]
    links = [(dice.randrange(50), dice.randrange(50), dice.choice(LIVE)) for _ in range(150)]
    zone = Zone(rules.contagion)
    now = 0.0

    def pass_on() -> None:
        zone.update([agent.deviations for agent in agents])
        shown = [agent.show() for agent in agents]
        for sender, receiver, channel in links:
            emission = shown[sender]
            if sender != receiver and emission is not None:
                agents[receiver].receive(emission, channel, str(sender), zone.factors)

    for _ in range(8):
        now += dice.uniform(0.0, 30.0)
        for agent in agents:
            event = shell(now, dice.random() < 0.3) if dice.random() < 0.5 else QUIET
            agent.step(event, percept(now, failure_rate=0.7), dice.random())
        pass_on()
        for agent in agents:
            for field in agent._fields:
                assert field.floor <= field.magnitude <= field.ceiling
    peak = max(abs(value) for agent in agents for value in agent.deviations)
    for _ in range(12):
        now += 1200.0
        top = max(abs(value) for agent in agents for value in agent.deviations)
        for agent in agents:
            agent.step(QUIET, percept(now), 0.0)
        pass_on()
        assert max(abs(value) for agent in agents for value in agent.deviations) <= top + 1e-12
    assert peak > 0.05
    assert all(agent.show() is None for agent in agents)
    counts = [agent.lineage.count for agent in agents]
    pass_on()
    assert counts == [agent.lineage.count for agent in agents]
    assert all(agent.lineage.verify() is None for agent in agents)


def test_nothing_leaves_quarantine() -> None:
    rules = AffectSettings.parse({"quarantine": {"enter": 0.06}})
    affect = Affect(rules)
    for turn in range(12):
        hammer(affect, 3, turn % 2 == 1, since=turn * 3.0, every=1.0)
    hammer(affect, 10, False, since=40.0, every=1.0)
    assert affect.quarantined
    assert affect.show() is None and affect.report("p") is None and affect.hand_down("c", 1) is None
    assert any(abs(value) > 0.05 for value in affect.deviations)


def test_only_who_deviates_further_moves_another() -> None:
    worn_out = worn(20)
    level = worn_out.deviations
    for shown in ((0.05,) * 7, (-0.05,) * 7, level):
        assert worn_out.receive(Emission(shown, bytes(32)), "down", "x") is None
    assert worn_out.deviations == level
    near = Affect(SETTINGS)
    gap = SETTINGS.contagion.gap / SETTINGS.contagion.delegation
    assert near.receive(Emission((gap - 0.001,) * 7, bytes(32)), "down", "x") is None
    assert near.receive(Emission((gap + 0.001,) * 7, bytes(32)), "down", "x") is not None


def test_what_others_cause_counts_as_volatility_until_the_next_event() -> None:
    affect = Affect(AffectSettings.parse({"quarantine": {"enter": 0.06, "window": 30}}))
    affect.receive(Emission((0.4,) * 7, bytes(32)), "down", "x")
    assert affect.read().volatility > 0.06
    assert not affect.quarantined
    assert affect.step(QUIET, percept(0.0), 0.0).entered


@given(
    st.lists(st.tuples(st.floats(0, 400), st.floats(-0.5, 0.5), st.sampled_from(LIVE)), max_size=30), st.integers(0, 29)
)
@settings(max_examples=100)
def test_a_dump_remembers_what_was_taken_in(rounds: list[tuple[float, float, Channel]], cut: int) -> None:
    rules = AffectSettings.parse({"contagion": {"gap": 0.0, "strength": 1.0}})
    whole, again = Affect(rules), Affect(rules)
    now = 0.0
    for number, (gap, level, channel) in enumerate(rounds):
        if number == cut:
            again.load(cbor2.loads(cbor2.dumps(whole.dump())))
        now += gap
        emission = Emission((level,) * 7, bytes(32))
        for affect in (whole, again) if number >= cut else (whole,):
            affect.step(QUIET, percept(now), 0.0)
            affect.receive(emission, channel, "x")
    if len(rounds) > cut:
        assert again.dump() == whole.dump()


def test_a_commons_goes_on_from_its_dump_and_works_both_ways() -> None:
    def told(commons: Commons, loud: str) -> list[list[str]]:
        peers = {name: Peer(worn(20) if name == loud else Affect(SETTINGS), "") for name in "abc"}
        commons.round(peers, "nobody")
        kept = [[describe_entry(entry) for entry in peer.affect.lineage.entries] for peer in peers.values()]
        return [[entry.source for entry in entries if entry.act == "exposed"] for entries in kept]

    for first, last, loud in (("a", "b", "a"), ("b", "a", "a"), ("a", "b", "b"), ("b", "a", "b")):
        commons = Commons(SETTINGS.contagion)
        commons.touch(first, ("x.py",))
        commons.touch(last, ("x.py",))
        again = Commons(SETTINGS.contagion)
        again.load(cbor2.loads(cbor2.dumps(commons.dump())))
        heard: list[list[str]] = [[], ["a"], []] if loud == "a" else [["b"], [], []]
        assert told(again, loud) == told(commons, loud) == heard
        assert told(commons, loud) == [[], [], []], "a meeting counts in one round"


def test_the_files_remembered_are_bounded() -> None:
    commons = Commons(SETTINGS.contagion)
    for number in range(SETTINGS.contagion.paths + 50):
        commons.touch("a", (f"{number}.py",))
    paths = commons.dump()[1]
    assert len(paths) == SETTINGS.contagion.paths
    assert paths[0] == ("50.py", "a")
