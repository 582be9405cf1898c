"""The laws of affect, under random streams of events and random policies."""

from __future__ import annotations

import cbor2
import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.affect.affect import Affect, Noise, Quarantine, Stabiliser, Updater
from core.engine.affect.fields import FIELDS, control_fields
from core.engine.affect.lineage import Lineage, LineageEntry, describe_entry, verify
from core.engine.affect.policy import Policy
from core.errors import StateError
from core.events import Event
from core.settings.affect import AffectSettings, QuarantineSettings
from core.settings.group import walk_tunables
from tests.core.engine.affect.policies import BOUNDS, policies
from tests.core.engine.affect.stories import CAP, hammer, live, lived, percept, shell
from tests.core.strategies import events

SETTINGS = AffectSettings()
TIGHT = 1e-12


def packed(affect: Affect) -> bytes:
    return cbor2.dumps(affect.dump(), canonical=True)


@given(events(80, backwards=True), policies, st.integers(-5, 2**64))
@settings(max_examples=200)
def test_no_sequence_leaves_the_envelope(stream: list[Event], policy: Policy, seed: int) -> None:
    affect = Affect(SETTINGS, policy, seed)
    targets = policy.over(SETTINGS).modulation
    highest = targets.promotion.high, targets.acceptance.high
    for event, seen, novelty in lived(stream):
        mood = affect.step(event, seen, novelty)
        for field in affect._fields:
            assert field.floor <= field.magnitude <= field.ceiling
            assert 1.0 <= field.stretch <= field.slowest
        bent = mood.modulation
        assert targets.promotion.low <= bent.promotion_threshold <= highest[0]
        assert targets.breadth.low <= bent.search_breadth <= targets.breadth.high
        assert targets.branches.low <= bent.branch_growth <= targets.branches.high
        assert targets.fading.low <= bent.unpromoted_decay <= targets.fading.high
        assert targets.escalation.low <= bent.escalation_threshold <= targets.escalation.high
        assert targets.retries.low <= bent.persistence <= targets.retries.high
        assert targets.acceptance.low <= bent.mutation_acceptance <= highest[1]
        if mood.quarantined:
            assert (bent.promotion_threshold, bent.mutation_acceptance) == highest
            assert bent.delegation_preference == 0.0
        else:
            assert targets.delegation.low <= bent.delegation_preference <= targets.delegation.high


@given(
    st.lists(st.tuples(st.integers(1, 63), st.integers(0, 6), st.floats(0, 200)), max_size=20),
    st.sampled_from((0.0, 0.05)),
    st.integers(0, 2**32),
)
@settings(max_examples=1500)
def test_no_observations_break_envelope_or_rate(
    rounds: list[tuple[int, int, float]], amplitude: float, seed: int
) -> None:
    harsh = {name: {"on_failure": 0.2, "on_success": -0.2, "rate_limit": 0.25} for name in FIELDS}
    rules = AffectSettings.parse({"fields": harsh, "noise": {"amplitude": amplitude}})
    fields = control_fields(rules)
    updater = Updater(fields, rules.hysteresis, Stabiliser(rules.stability), Noise(rules.noise, seed))
    for seen, strength, elapsed in rounds:
        faded = [field.value(elapsed) if not field.flips else None for field in fields]
        updater.observe(seen, [strength / 6.0] * 6, elapsed, 0.0)
        for field, value in zip(fields, faded, strict=True):
            assert field.floor <= field.magnitude <= field.ceiling
            if value is not None:
                assert abs(field.magnitude - value) <= field.rate_limit + TIGHT


@given(events(80), policies)
@settings(max_examples=150)
def test_no_event_moves_a_field_by_more_than_its_rate_limit(stream: list[Event], policy: Policy) -> None:
    affect = Affect(SETTINGS, policy, 3)
    last = 0.0
    for event, seen, novelty in lived(stream):
        faded = [field.value(seen.now - last) for field in affect._fields]
        paces = [field.stretch for field in affect._fields]
        last = seen.now
        mood = affect.step(event, seen, novelty)
        moves = []
        for field, value, pace in zip(affect._fields, faded, paces, strict=True):
            if pace == 1.0:
                assert abs(field.magnitude - value) <= field.rate_limit + TIGHT
                moves.append(abs(field.magnitude - value))
        if mood.strongest is not None and all(pace == 1.0 for pace in paces):
            assert abs(mood.change) == pytest.approx(max(moves), abs=TIGHT)


@given(events(60), policies, st.integers(0, 59), st.integers(0, 2**32))
@settings(max_examples=100)
def test_a_dump_goes_on_exactly(stream: list[Event], policy: Policy, cut: int, seed: int) -> None:
    whole = Affect(SETTINGS, policy, seed)
    told = list(lived(stream))
    for step in told[:cut]:
        whole.step(*step)
    saved = packed(whole)
    again = Affect(SETTINGS, policy, seed)
    again.load(cbor2.loads(saved))
    assert packed(again) == saved
    assert again.read() == whole.read()
    for step in told[cut:]:
        assert again.step(*step) == whole.step(*step)
    assert packed(again) == packed(whole)


@given(events(80), policies, st.integers(0, 2**32))
@settings(max_examples=100)
def test_the_same_inputs_rebuild_the_same_chain(stream: list[Event], policy: Policy, seed: int) -> None:
    first, second = Affect(SETTINGS, policy, seed), Affect(SETTINGS, policy, seed)
    chain = [mood.entry for mood in live(first, stream) if mood.entry]
    assert chain == [mood.entry for mood in live(second, stream) if mood.entry]
    assert packed(first) == packed(second)
    assert len(chain) == first.lineage.count
    assert verify(chain, Affect(SETTINGS, policy, seed).lineage.head, first.lineage.head) is None


@given(events(60), st.floats(0, 10_000))
@settings(max_examples=100)
def test_reading_changes_nothing(stream: list[Event], later: float) -> None:
    affect = Affect(SETTINGS)
    live(affect, stream)
    before = packed(affect)
    reading = affect.read(affect._at + later)
    assert reading == affect.read(now=affect._now + (affect._at + later - affect._at))
    assert packed(affect) == before
    for now, then in zip(affect.read().fields, reading.fields, strict=True):
        assert abs(then.magnitude - then.rest) <= abs(now.magnitude - now.rest) + TIGHT


def _long_chain() -> tuple[bytes, list[LineageEntry], bytes]:
    affect = Affect(SETTINGS)
    genesis = affect.lineage.head
    moods = hammer(affect, 20, False) + hammer(affect, 20, True, since=200)
    return genesis, [mood.entry for mood in moods if mood.entry], affect.lineage.head


GENESIS, CHAIN, HEAD = _long_chain()


@given(st.integers(0, len(CHAIN) - 1), st.integers(0, 10_000), st.integers(1, 255), st.booleans())
@settings(max_examples=1000)
def test_tampering_with_any_entry_is_found(index: int, place: int, mask: int, rehashed: bool) -> None:
    payload = bytearray(CHAIN[index].payload)
    payload[place % len(payload)] ^= mask
    digest = blake3(bytes(payload)).digest() if rehashed else CHAIN[index].digest
    forged = [*CHAIN[:index], LineageEntry(bytes(payload), digest), *CHAIN[index + 1 :]]
    assert verify(forged, GENESIS, HEAD) == index


@given(st.integers(0, len(CHAIN) - 1))
def test_a_missing_or_swapped_entry_is_found(index: int) -> None:
    assert verify(CHAIN, GENESIS, HEAD) is None
    assert verify(CHAIN[:index] + CHAIN[index + 1 :], GENESIS, HEAD) is not None
    if index:
        swapped = [*CHAIN[: index - 1], CHAIN[index], CHAIN[index - 1], *CHAIN[index + 1 :]]
        assert verify(swapped, GENESIS, HEAD) is not None
    cut = LineageEntry(CHAIN[index].payload[:5], CHAIN[index].digest)
    assert verify([*CHAIN[:index], cut], GENESIS) == index


def test_the_ring_is_bounded_and_verifies_from_its_anchor() -> None:
    affect = Affect(SETTINGS)
    live(affect, [shell(step * 3.0, step % 3 == 0) for step in range(200)])
    kept = affect.lineage.entries
    assert len(kept) == SETTINGS.lineage.kept < affect.lineage.count
    assert affect.lineage.verify() is None
    assert [describe_entry(entry).index for entry in kept] == list(
        range(affect.lineage.count - len(kept), affect.lineage.count)
    )
    smaller = Lineage(3, b"")
    smaller.load(affect.lineage.dump())
    assert smaller.entries == kept[-3:]
    assert smaller.verify() is None


@given(st.lists(st.tuples(st.floats(0, CAP), st.booleans()), min_size=20, max_size=300))
@settings(max_examples=300)
def test_quarantine_does_not_flap(beats: list[tuple[float, bool]]) -> None:
    affect = Affect(AffectSettings.parse({"quarantine": {"enter": 0.045, "release": 0.04, "window": 120}}))
    width = 120 / 30
    now, turned = 0.0, None
    for gap, good in beats:
        now += gap
        was = affect.quarantined
        mood = affect.step(shell(now, good), percept(now, failure_rate=0.5), 0.0)
        volatility = affect.read().volatility
        assert mood.quarantined == affect.quarantined
        assert mood.entered == (mood.quarantined and not was)
        assert mood.released == (was and not mood.quarantined)
        if mood.entered:
            assert volatility > 0.045
        elif mood.released:
            assert volatility < 0.04
            assert turned is not None
            assert now - turned > 0.0
            assert int(now / width) > int(turned / width)
        elif mood.quarantined:
            assert volatility >= 0.04
        turned = now if mood.entered else turned


def test_hovering_at_the_threshold_enters_once() -> None:
    """Volatility that wavers between release and enter never releases."""
    rules = QuarantineSettings()
    quarantine = Quarantine(rules)
    unit = rules.enter * 7 * rules.window / 60 / 30
    turns = [quarantine.update(step * rules.window / 30, unit * 1.2) for step in range(31)]
    turns += [
        quarantine.update((31 + step) * rules.window / 30, unit * (1.2 if step % 60 < 30 else 0.7))
        for step in range(600)
    ]
    assert [turn for turn in turns if turn] == [1]
    calm = [quarantine.update((631 + step) * rules.window / 30, 0.0) for step in range(31)]
    assert [turn for turn in calm if turn] == [-1]


def test_another_policy_binds_a_loaded_dump_at_once() -> None:
    affect = Affect(SETTINGS)
    hammer(affect, 40, False)
    narrow = AffectSettings.parse(
        {
            "fields": {"risk_sensitivity": {"ceiling": 0.75}},
            "quarantine": {"window": 900},
            "contagion": {"window": 60},
            "lineage": {"kept": 4},
        }
    )
    other = Affect(narrow)
    other.load(affect.dump())
    by_name = {field.name: field for field in other.read().fields}
    assert by_name["risk_sensitivity"].magnitude == 0.75
    assert other.read().volatility == pytest.approx(affect.read().volatility / 3)
    hammer(other, 3, False, since=300)
    assert other.lineage.verify() is None


@pytest.mark.parametrize("state", [{}, {"at": 0, "now": 0, "fields": [(1, 2)]}])
def test_a_foreign_dump_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(StateError, match=r"does not fit (Affect|ControlField)"):
        Affect(SETTINGS).load(state)


def test_every_figure_has_bounds_a_step_and_a_sentence() -> None:
    for entry in walk_tunables(AffectSettings):
        assert entry.sentence.endswith("."), entry.name
        assert 2 <= len(entry.sentence.split()) <= 15, entry.name
        if entry.kind in ("number", "integer"):
            assert entry.low is not None and entry.high is not None and entry.step, entry.name
            assert entry.low <= entry.default <= entry.high, entry.name
    for name in FIELDS:
        assert BOUNDS[f"fields.{name}.floor"].high <= BOUNDS[f"fields.{name}.rest"].low  # type: ignore[operator]
        assert BOUNDS[f"fields.{name}.rest"].high <= BOUNDS[f"fields.{name}.ceiling"].low  # type: ignore[operator]
    assert BOUNDS["quarantine.release"].high < BOUNDS["quarantine.enter"].low  # type: ignore[operator]
