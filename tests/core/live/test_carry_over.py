"""What passes from session to session, and that nothing does when it should not."""

from __future__ import annotations

from pathlib import Path

import cbor2
import pytest

from bench.workload import session
from core.engine.society import Society
from core.events import MAIN, ToolUse
from core.live.carry_over import CarryOver
from core.settings import Settings
from core.settings.layers import with_value
from core.store.carry_over import LearnedStore, PersonaStore, PriorStore
from core.timeline.initial_state import InitialState

MEETING = {"response": {"persona": {"chance": 1.0, "confidence": 0.0}}}


class Stores:
    def __init__(self, folder: Path, who: str = "me") -> None:
        self.prior = PriorStore(folder / who / "prior.json")
        self.learned = LearnedStore(folder / who / "learned.json")
        self.personas = PersonaStore(folder / "shared", folder / who / "record.json")

    def carry_over(self, settings: Settings, *, use: bool = True, personas: bool = False) -> CarryOver:
        met = self.personas if personas else None
        settings = settings if personas else with_value(settings, "response.persona.on", False)
        return CarryOver(settings, prior=self.prior, learned=self.learned, personas=met, use=use)


def ran(carry_over: CarryOver, settings: Settings, kind: int = 1) -> Society:
    society = Society(settings, learned=carry_over.learned)
    for event in session(500, seed=kind):
        society.step(event)
    carry_over.settle(society)
    return society


def begun(carry_over: CarryOver, settings: Settings, at: float, seed: int = 1) -> tuple[Society, list[str]]:
    """Minds with the baselines that earlier sessions left, and what is said about them."""
    levels, said = carry_over.levels(at, seed)
    return InitialState(prior=levels).society(settings), said


def canonical(society: Society) -> bytes:
    return cbor2.dumps(society.dump(), canonical=True)


@pytest.fixture
def at() -> float:
    return session(501)[-1].at


def test_a_prior_moves_the_main_agents_first_thresholds_and_nothing_else(tmp_path: Path, at: float) -> None:
    settings, stores = Settings(), Stores(tmp_path)
    ran(stores.carry_over(settings), settings)
    seeded, said = begun(stores.carry_over(settings), settings, at)
    plain = Society(settings)
    assert said == ["baselines begin where 1 earlier sessions left them"]
    assert seeded.engine(MAIN).receptor.levels()[:6] != plain.engine(MAIN).receptor.levels()[:6]
    assert canonical(seeded) != canonical(plain)
    seeded.engine(MAIN).receptor.load(plain.engine(MAIN).receptor.dump())
    assert canonical(seeded) == canonical(plain)


def test_without_a_prior_the_bytes_are_equal(tmp_path: Path, at: float) -> None:
    settings, stores = Settings(), Stores(tmp_path)
    ran(stores.carry_over(settings), settings)
    before = stores.prior.path.read_bytes()
    carry_over = stores.carry_over(settings, use=False)
    alone, (unseeded, said) = Society(settings), begun(carry_over, settings, at)
    assert said == []
    for event in session(300):
        alone.step(event)
        unseeded.step(event)
    carry_over.settle(unseeded)
    assert canonical(alone) == canonical(unseeded)
    assert stores.prior.path.read_bytes() == before


@pytest.mark.parametrize(("days", "used"), [(6.0, True), (8.0, False)])
def test_an_old_prior_is_passed_over(tmp_path: Path, at: float, days: float, used: bool) -> None:
    settings, stores = Settings(), Stores(tmp_path)
    ran(stores.carry_over(settings), settings)
    society, said = begun(stores.carry_over(settings), settings, at + days * 86_400.0)
    assert bool(said) is used
    assert (canonical(society) != canonical(Society(settings))) is used


def test_stretches_are_learned_once(tmp_path: Path) -> None:
    settings, stores = Settings(), Stores(tmp_path)
    carry_over = stores.carry_over(settings)
    society = Society(settings)
    stream = session(900)
    for event in stream[:450]:
        society.step(event)
    carry_over.settle(society)
    carry_over.settle(society)
    first = stores.learned.read()
    assert first.stretches == 1
    for event in stream[450:]:
        society.step(event)
    carry_over.settle(society)
    second = stores.learned.read()
    assert second.stretches == 2
    assert second.deltas
    prior = stores.prior.read()
    assert prior is not None and prior.session_count == 1


def test_personas_are_left_and_met_and_the_seed_repeats_the_meeting(tmp_path: Path, at: float) -> None:
    settings = Settings.parse(MEETING)
    mine, theirs = Stores(tmp_path, "me"), Stores(tmp_path, "them")
    ran(theirs.carry_over(settings, personas=True), settings, kind=2)
    ran(mine.carry_over(settings, personas=True), settings)
    dumps = []
    for _ in range(2):
        society, said = begun(mine.carry_over(settings, personas=True), settings, at, 42)
        assert said[-1].startswith("met persona") and "seed 42" in said[-1]
        dumps.append(canonical(society))
    assert dumps[0] == dumps[1]
    alone, _ = begun(mine.carry_over(settings), settings, at, 42)
    assert canonical(alone) != dumps[0]
    meeting = mine.personas.record().encounter
    assert meeting is not None and (meeting.seed, meeting.blend) == (42, 0.5)


def test_a_session_without_any_call_leaves_nothing(tmp_path: Path) -> None:
    settings, stores = Settings(), Stores(tmp_path)
    society = Society(settings)
    for event in session(200):
        if not isinstance(event, ToolUse):
            society.step(event)
    stores.carry_over(settings).settle(society)
    assert not stores.prior.path.exists()


@pytest.mark.parametrize("on", [True, False])
def test_a_persona_is_left_in_our_own_folder_unless_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: bool
) -> None:
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    settings = with_value(Settings.parse(MEETING), "response.persona.on", on)
    ran(CarryOver(settings), settings)
    assert len(list(tmp_path.rglob("persona-[0-9a-f]*.json"))) == on
