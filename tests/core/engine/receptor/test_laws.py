"""What holds for the receptor whatever the agent does."""

from __future__ import annotations

import cbor2
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.receptor import Receptor
from core.events import Event
from tests.core.engine.receptor.acts import DEFAULTS, spell, tuned
from tests.core.strategies import events

STREAMS = events(max_size=80, backwards=True)
LOOPS = st.text("efobrgaP", min_size=10, max_size=60)
"""Words of acts, which reach spikes and flow sooner than random events."""


def encoded(made: Receptor) -> bytes:
    return cbor2.dumps(made.dump(), canonical=True)


def check(stream: list[Event]) -> None:
    made = Receptor(DEFAULTS)
    for event in stream:
        percept = made.step(event)
        assert all(0.0 <= value <= 1.0 for value in percept.axes)
        assert percept.elapsed >= 0.0
        names = [signal.name for signal in percept.signals]
        assert len(names) == len(set(names))
        assert all(signal.intensity >= 0.0 for signal in percept.signals)
        if "flow_active" in names:
            assert names == ["flow_active"]
        if "compound_frustration_seeking" in names:
            assert not {"frustration_spike", "seeking_spike"} & set(names)
        reading = made.read()
        assert all(0.25 <= axis.threshold <= 0.85 for axis in reading.axes)
        assert 0.25 <= reading.gate.threshold <= 0.85
        assert all(abs(lift) <= 0.15 for _, lift in reading.meta.field)


@settings(max_examples=60)
@given(STREAMS)
def test_values_thresholds_and_signals_keep_their_bounds(stream: list[Event]) -> None:
    check(stream)


@settings(max_examples=40)
@given(LOOPS, st.sampled_from((0.5, 5.0, 29.0, 100.0)))
def test_the_same_for_busy_loops(word: str, gap: float) -> None:
    check(spell(word, gap))


@settings(max_examples=60)
@given(STREAMS, st.integers(0, 80))
def test_a_loaded_dump_goes_on_as_the_original(stream: list[Event], cut: int) -> None:
    original, copy = Receptor(DEFAULTS), Receptor(DEFAULTS)
    for event in stream[:cut]:
        original.step(event)
    copy.load(cbor2.loads(encoded(original)))
    assert encoded(copy) == encoded(original)
    for event in stream[cut:]:
        assert copy.step(event) == original.step(event)
    assert encoded(copy) == encoded(original)
    assert copy.read() == original.read()
    assert copy.why("flow") == original.why("flow")


@settings(max_examples=40)
@given(STREAMS)
def test_equal_events_give_equal_bytes_and_a_dump_is_a_snapshot(stream: list[Event]) -> None:
    one, other = Receptor(DEFAULTS), Receptor(DEFAULTS)
    half = one.dump()
    for event in stream:
        one.step(event)
    assert cbor2.dumps(half, canonical=True) == encoded(other)
    for event in stream:
        other.step(event)
    assert encoded(one) == encoded(other)


@settings(max_examples=40)
@given(STREAMS, st.floats(-100, 10_000))
def test_reading_changes_nothing(stream: list[Event], later: float) -> None:
    made = Receptor(DEFAULTS)
    for event in stream:
        made.step(event)
        before = encoded(made)
        made.read()
        made.read(event.at + later)
        made.why("frustration", event.at + later)
        assert encoded(made) == before


METAS = st.fixed_dictionaries(
    {
        "step": st.floats(0, 0.2),
        "bound": st.floats(0, 0.5),
        "danger": st.floats(0.4, 1),
        "safe": st.floats(0, 0.4),
        "stuck_frustration": st.floats(0, 1),
        "deep_flow": st.floats(0, 1),
        "buffer": st.integers(4, 200),
    }
)


def made_of(meta: dict[str, float]) -> Receptor:
    """A receptor whose gate is hard to open, so that signals break into flow."""
    offsets = {"flow": 0.6, "confidence": 0.8}
    return Receptor(tuned(meta=meta, ambient={"offset": offsets}))


@settings(max_examples=80)
@given(st.lists(st.sampled_from(("efefef", "ebebeb", "bbff", "oooo", "P")), max_size=20), METAS, METAS)
def test_nothing_of_the_meta_neuron_ever_changes_the_gate(
    words: list[str], one: dict[str, float], other: dict[str, float]
) -> None:
    first, second = made_of(one), made_of(other)
    for event in spell("".join(words), 5.0):
        first.step(event)
        second.step(event)
        assert first.read().gate.threshold == second.read().gate.threshold


def test_though_the_meta_neuron_changes_what_fires_and_with_it_flow() -> None:
    first, second = made_of({"step": 0.0}), made_of({"step": 0.2, "bound": 0.5})
    flows, thresholds, sent = [], [], []
    for event in spell("eb" * 5 + "fff" + "eb" * 5, 5.0):
        one, other = first.step(event), second.step(event)
        sent.append(one.signals == other.signals)
        flows.append(one.axes[4] == other.axes[4])
        thresholds.append(first.read().gate.threshold == second.read().gate.threshold)
    assert not all(sent)
    assert not all(flows)
    assert all(thresholds)
