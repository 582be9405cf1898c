"""Thresholds and cadences of affect at, below and above the value that is set."""

from __future__ import annotations

import pytest
from blake3 import blake3

from core.engine.affect.affect import FORGOTTEN, Affect, Noise, Quarantine, Stabiliser, Updater
from core.engine.affect.contagion import Emission, Exposure, Zone
from core.engine.affect.fields import NOVELTY, PRESSURE, SUCCESS, UNCERTAINTY, Observer, control_fields
from core.engine.affect.lineage import CEILING, CONTAGION, FLOOR, RATE, LineageEntry, describe_entry, verify
from core.engine.affect.policy import _choice_words
from core.engine.society.society import Commons, Peer
from core.events import Event, Prompt, ToolUse, Turn
from core.settings.affect import (
    AffectSettings,
    ContagionSettings,
    HysteresisSettings,
    NoiseSettings,
    ObservationSettings,
    QuarantineSettings,
    StabilitySettings,
)
from tests.core.engine.affect.stories import hammer, percept
from tests.core.engine.affect.test_contagion import worn
from tests.core.engine.affect.test_laws import CHAIN, GENESIS, HEAD


@pytest.mark.parametrize(
    ("deviation", "passed_on"), [(0.1249, ()), (0.125, ()), (0.1251, (2,)), (-0.125, ()), (-0.1251, (2,))]
)
def test_only_what_is_larger_than_the_least_is_passed_on(deviation: float, passed_on: tuple[int, ...]) -> None:
    exposure = Exposure(ContagionSettings(least=0.125))
    assert exposure.strong_places((0.0, 0.0, deviation, 0.0, 0.0, 0.0, 0.0)) == passed_on


@pytest.mark.parametrize(("off", "side"), [(0.0624, 0), (0.0625, 0), (0.0626, 1), (-0.0625, 0), (-0.0626, -1)])
def test_a_field_takes_a_side_only_outside_the_band(off: float, side: int) -> None:
    field = control_fields(AffectSettings())[0]
    field.rest = 0.5
    field.magnitude = 0.5 + off
    Stabiliser(StabilitySettings(band=0.0625)).watch(field)
    assert field.side == side


def pulled(deviation: float, limit: float = 1.0) -> tuple[float, int]:
    """The step of the first field and why it was cut, by a deviation that reaches it halved."""
    fields = control_fields(AffectSettings())
    for field in fields:
        field.magnitude = field.rest
    fields[0].contagion_limit = limit
    exposure = Exposure(ContagionSettings(delegation=0.5, strength=1.0, gap=0.125, least=0.01))
    raws = exposure.pull(fields, Emission((deviation, *(0.0,) * 6), bytes(32)), "down", 0.0)
    return (raws or [0.0])[0], exposure.cuts[0]


@pytest.mark.parametrize(("deviation", "step"), [(0.249, 0.0), (0.25, 0.0), (0.5, 0.25), (-0.25, 0.0)])
def test_only_a_gap_larger_than_the_least_moves_another(deviation: float, step: float) -> None:
    assert pulled(deviation)[0] == step


@pytest.mark.parametrize(("limit", "step", "cut"), [(0.5, 0.25, 0), (0.25, 0.25, 0), (0.125, 0.125, CONTAGION)])
def test_a_step_as_large_as_what_is_left_is_not_cut(limit: float, step: float, cut: int) -> None:
    assert pulled(0.5, limit) == (step, cut)


@pytest.mark.parametrize(("mean", "suppressed"), [(0.249, False), (0.25, False), (0.251, True)])
def test_a_spiral_is_suspected_above_its_level(mean: float, suppressed: bool) -> None:
    zone = Zone(ContagionSettings(memory=1.0, spiral=0.25, calm=0.0625, suppression=0.5))
    zone.update([(mean,) * 7])
    assert (zone.factors[0] < 1.0) is suppressed


@pytest.mark.parametrize(("mean", "suppressed"), [(0.0624, False), (0.0625, True), (0.0626, True)])
def test_the_suspicion_ends_below_its_level(mean: float, suppressed: bool) -> None:
    zone = Zone(ContagionSettings(memory=1.0, spiral=0.25, calm=0.0625, suppression=0.5))
    zone.update([(0.5,) * 7])
    zone.update([(mean,) * 7])
    assert (zone.factors[0] < 1.0) is suppressed


def seen(event: Event, new: float = 0.0, before: Event | None = None, **settings: float) -> int:
    """What affect takes an event for, as bits."""
    observer = Observer(ObservationSettings.parse(settings))
    if before is not None:
        observer.observe(before, percept(0.0), 0.0)
    return observer.observe(event, percept(0.0), new)


@pytest.mark.parametrize(("tokens", "presses"), [(74, False), (75, False), (76, True)])
def test_a_context_presses_only_above_its_share(tokens: int, presses: bool) -> None:
    turn = Turn(at=0.0, context_tokens=tokens, context_window=100)
    assert (seen(turn, context_share=0.75) == 1 << PRESSURE) is presses


@pytest.mark.parametrize(("gap", "presses"), [(59.0, True), (60.0, False), (61.0, False)])
def test_prompts_press_when_they_are_closer_together_than_the_limit(gap: float, presses: bool) -> None:
    first, next_ = Prompt(at=0.0, characters=5), Prompt(at=gap, characters=5)
    assert (seen(next_, before=first, cadence=60.0) == 1 << PRESSURE) is presses


@pytest.mark.parametrize(("novelty", "new"), [(0.74, False), (0.75, False), (0.76, True)])
def test_only_what_is_newer_than_the_limit_is_new(novelty: float, new: bool) -> None:
    read = ToolUse(at=0.0, action="file_read", outcome="success")
    assert (seen(read, novelty, None, novelty=0.75) == 1 << NOVELTY) is new


@pytest.mark.parametrize(("weight", "bits"), [(0.0, 0), (0.05, 1 << SUCCESS)])
def test_a_success_that_weighs_nothing_is_not_observed(weight: float, bits: int) -> None:
    assert seen(ToolUse(at=0.0, action="shell_exec"), command=weight) == bits


@pytest.mark.parametrize(("weight", "bits"), [(0.0, 0), (0.05, 1 << UNCERTAINTY)])
def test_a_doubt_that_weighs_nothing_is_not_observed(weight: float, bits: int) -> None:
    assert seen(ToolUse(at=0.0, action="search", outcome="empty"), empty=weight) == bits


def moved(*raws: float, before: float = 0.5) -> Updater:
    """Fields that were pushed, each by so much, within bounds of .25 and .75 and a rate of .125."""
    fields = control_fields(AffectSettings())
    for field in fields:
        field.floor, field.ceiling, field.rate_limit = 0.25, 0.75, 0.125
        field.rest = field.magnitude = before
    updater = Updater(fields, HysteresisSettings(), Stabiliser(StabilitySettings()), Noise(NoiseSettings()))
    updater.before = updater._magnitudes()
    updater._move_all([*raws, *(0.0,) * (7 - len(raws))], 0.0, 1.0, 0.0, False)
    return updater


@pytest.mark.parametrize(
    ("raw", "cut"), [(0.124, 0), (0.125, 0), (0.126, RATE), (-0.124, 0), (-0.125, 0), (-0.126, RATE)]
)
def test_a_push_as_large_as_the_rate_is_not_cut(raw: float, cut: int) -> None:
    assert moved(raw).cuts[0] == cut


@pytest.mark.parametrize(("before", "cut"), [(0.624, 0), (0.625, 0), (0.626, CEILING)])
def test_a_push_up_to_the_ceiling_is_not_cut(before: float, cut: int) -> None:
    assert moved(0.125, before=before).cuts[0] == cut


@pytest.mark.parametrize(("before", "cut"), [(0.376, 0), (0.375, 0), (0.374, FLOOR)])
def test_a_push_down_to_the_floor_is_not_cut(before: float, cut: int) -> None:
    assert moved(-0.125, before=before).cuts[0] == cut


def test_of_two_fields_moved_equally_far_the_first_is_the_strongest() -> None:
    assert moved(0.0625, -0.0625).strongest == 0
    assert moved(0.0625, -0.125).strongest == 1


@pytest.mark.parametrize(("flips", "slowed"), [(0.5, False), (1.0, False), (1.5, True)])
def test_a_field_is_slowed_only_above_so_many_swings(flips: float, slowed: bool) -> None:
    field = control_fields(AffectSettings())[0]
    field.rest, field.magnitude, field.side, field.flips = 0.5, 0.7, -1, flips
    Stabiliser(StabilitySettings(threshold=2.0, band=0.0625)).watch(field)
    assert field.flips == flips + 1.0
    assert (field.stretch > 1.0) is slowed


@pytest.mark.parametrize(
    ("flips", "kept"), [(FORGOTTEN * 0.99, 0.0), (FORGOTTEN, FORGOTTEN), (FORGOTTEN * 1.01, FORGOTTEN * 1.01)]
)
def test_swings_are_forgotten_below_a_level(flips: float, kept: float) -> None:
    field = control_fields(AffectSettings())[0]
    field.flips, field.stretch = flips, 2.0
    Stabiliser(StabilitySettings()).settle(field, 0.5)
    assert (field.flips, field.stretch) == (kept, 1.5 if kept else 1.0)


@pytest.mark.parametrize(("amplitude", "on"), [(0.0, False), (0.001, True)])
def test_noise_of_no_size_is_off_and_draws_nothing(amplitude: float, on: bool) -> None:
    noise = Noise(NoiseSettings(amplitude=amplitude))
    noise.draw()
    assert (noise.on, noise.drawn) == (on, int(on))


def test_quarantine_is_released_once_and_not_with_every_calm_event() -> None:
    affect = Affect(AffectSettings())
    steps = hammer(affect, 3, True)
    assert [step.released for step in steps] == [False] * 3


@pytest.mark.parametrize(("back", "kept"), [(29, 1.0), (30, 0.0), (31, 0.0)])
def test_a_window_of_another_length_takes_over_only_what_it_can_hold(back: int, kept: float) -> None:
    window = QuarantineSettings().window
    quarantine = Quarantine(QuarantineSettings())
    slices = [0.0] * 60
    slices[(100 - back) % 60] = 1.0
    quarantine.load((window / 30, 100, slices, 1.0, False, 0))
    assert quarantine._sum == kept


@pytest.mark.parametrize(("agents", "heard"), [("a", 0), ("ab", 1), ("abc", 1)])
def test_two_agents_are_enough_to_pass_affect_on(agents: str, heard: int) -> None:
    commons = Commons(AffectSettings().contagion)
    commons.touch("a", ("x.py",))
    commons.touch("b", ("x.py",))
    peers = {name: Peer(worn(20) if name == "a" else Affect(AffectSettings()), "") for name in agents}
    commons.round(peers, "nobody")
    exposed = [describe_entry(entry) for peer in peers.values() for entry in peer.affect.lineage.entries]
    assert sum(entry.act == "exposed" for entry in exposed) == heard


@pytest.mark.parametrize(("mean", "names"), [(0.0, 0), (0.5, 7)])
def test_only_suppressed_fields_are_told_and_loaded_as_suppressed(mean: float, names: int) -> None:
    settings = ContagionSettings(memory=1.0, spiral=0.25)
    zone, again = Zone(settings), Zone(settings)
    zone.update([(mean,) * 7])
    again.load(zone.dump())
    assert again.factors == zone.factors
    assert len(zone.read().spirals) == sum(zone.suppressed) == names


def test_a_last_entry_that_follows_another_is_found() -> None:
    last = CHAIN[-1]
    payload = bytes(32) + last.payload[32:]
    forged = LineageEntry(payload, blake3(payload).digest())
    assert verify([*CHAIN[:-1], forged], GENESIS) == len(CHAIN) - 2
    assert verify([*CHAIN[:-1], forged], GENESIS, HEAD) == len(CHAIN) - 1


@pytest.mark.parametrize(
    ("names", "told"), [((), ""), (("a",), "a"), (("a", "b"), "a or b"), (("a", "b", "c"), "a, b or c")]
)
def test_choices_are_listed_as_a_sentence_lists_them(names: tuple[str, ...], told: str) -> None:
    assert _choice_words(names) == told
