"""The bus hands on what minds do, in order; who is too slow loses the oldest, and that is counted."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import ClassVar

import pytest

from bench.workload import session
from core.agents.open_events import write
from core.agents.registry import make_kit
from core.engine.mind.fabric import CompensationRollback, MindEvent, Ticked
from core.engine.society import Society
from core.events import MAIN
from core.extension import Extension
from core.live.bus import Bus, BusEvent, Subscriber
from core.live.driver import Driver
from core.live.source import Followed
from core.settings import Settings
from core.settings.layers import with_value
from core.store.compensation import Chain
from core.timeline.run_inputs import InitialStates
from tui.cli import main

SETTINGS = Settings()


def event(number: int) -> BusEvent:
    return BusEvent(number, MAIN, Ticked(float(number), number, "theta", "T0", 0.0))


@pytest.mark.parametrize(
    ("bound", "sent", "first", "dropped"), [(4, 3, 0, 0), (4, 4, 0, 0), (4, 5, 1, 1), (1, 3, 2, 2)]
)
def test_a_full_queue_drops_the_oldest_and_counts_it(bound: int, sent: int, first: int, dropped: int) -> None:
    queue = Subscriber("slow", bound)
    for number in range(sent):
        queue.put(event(number))
    assert queue.dropped == dropped
    assert [one.number for one in queue.poll()] == list(range(first, sent))
    assert queue.poll() == [] and queue.get(0.0) is None


def test_all_subscribers_get_all_that_the_minds_put_on_their_rings_in_order() -> None:
    bus, society = Bus(100_000), Society(SETTINGS)
    one, other = bus.subscribe("one"), bus.subscribe("other")
    bus.start(society)
    expected: dict[str, list[MindEvent]] = {}
    for told in session(700, agents=3):
        society.step(told)
        bus.publish(society, told.agent)
    for agent in society.agents:
        expected[agent] = [each for _, each in society.engine(agent).mind.heart.fabric.replay()]
    got = one.poll()
    assert other.poll() == got and [each.number for each in got] == list(range(len(got)))
    assert bus.published == len(got) > 700
    for agent, events in expected.items():
        assert [each.event for each in got if each.agent == agent] == events


class Slow(Extension):
    """Waits until it is let go on."""

    name: ClassVar[str] = "slow"
    slow: ClassVar[bool] = True

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.heard: list[MindEvent] = []

    def on_mind_event(self, event: MindEvent) -> None:
        self.go_on.wait(10)
        self.heard.append(event)


@pytest.fixture
def log(home: Path) -> Path:
    path = home / "a.jsonl"
    path.write_bytes(b"".join(write(told, "a") + b"\n" for told in session(300)))
    return path


def driver_on(path: Path, settings: Settings, extension: Extension) -> Driver:
    source = Followed(path, make_kit(settings.ingest), settings)
    return Driver(source, InitialStates(settings), extensions=[extension])


def read(driver: Driver) -> None:
    while True:
        list(driver.poll(100))
        if not driver.source.behind:
            return


def test_a_slow_extension_holds_up_nothing_and_its_losses_are_shown(log: Path) -> None:
    slow = Slow()
    driver = driver_on(log, with_value(SETTINGS, "extensions.bus", 5), slow)
    read(driver)
    assert driver.count == 300
    slow.go_on.set()
    driver.close()
    [reading] = driver.bus.readings()
    assert reading.dropped > 100 and reading.dropped + reading.taken == driver.bus.published
    assert len(slow.heard) == reading.taken <= 6


def test_a_fault_in_a_slow_one_is_counted_and_switches_it_off(log: Path) -> None:
    class Failing(Slow):
        def on_mind_event(self, event: MindEvent) -> None:
            raise RuntimeError("no")

    driver = driver_on(log, SETTINGS, Failing())
    read(driver)
    driver.close()
    [standing] = driver.registry.standing()
    assert standing.faults == 3 and not standing.on
    assert any("switched off" in sentence for sentence in driver.problems())


def test_a_write_that_was_undone_reaches_extensions_and_subscribers(log: Path, tmp_path: Path) -> None:
    class Quick(Extension):
        name: ClassVar[str] = "quick"
        heard: ClassVar[list[MindEvent]] = []

        def on_mind_event(self, event: MindEvent) -> None:
            self.heard.append(event)

    driver = driver_on(log, SETTINGS, Quick())
    subscriber = driver.bus.subscribe("one")
    with pytest.raises(RuntimeError), Chain("two-files", tmp_path / "chains") as chain:
        chain.write(tmp_path / "a", b"new")
        raise RuntimeError
    read(driver)
    for events in (Quick.heard, [one.event for one in subscriber.poll()]):
        (undone,) = [event for event in events if isinstance(event, CompensationRollback)]
        assert (undone.chain, undone.steps) == ("two-files", 1)


def test_nobody_subscribes_and_nothing_is_published(log: Path) -> None:
    class Quiet(Extension):
        name: ClassVar[str] = "quiet"

    driver = driver_on(log, SETTINGS, Quiet())
    read(driver)
    assert not driver.bus and driver.bus.published == 0 and driver.registry.idle


def test_headless_watching_prints_what_the_mind_does(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(log), "--headless", "--mind", "--idle", "0"]) == 0
    out = capsys.readouterr().out
    assert "· ticked:" in out and "· tool returned:" in out
    assert main(["watch", str(log), "--headless", "--mind", "--json", "--idle", "0"]) == 0
    assert '"event":"Ticked"' in capsys.readouterr().out
    assert main(["watch", str(log), "--mind"]) == 2
