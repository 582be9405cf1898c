"""What runs at every size: a walk through rising sizes, where a cost is that of the events since the last.

Costs are processor time; small sizes are walked through several times, and the median counts.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from bench import claude, workload
from bench.measure import resident
from bench.workload import Dice
from core.agents.registry import make_kit
from core.engine.receptor import Receptor
from core.engine.society.engine import Engine
from core.events import Event
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.timeline.keyframes import encode
from core.timeline.timeline import Timeline
from tui.feed.feed import Film
from tui.feed.view import Subject
from tui.feed.viewpoint import Playhead

BLOCK = 500  # Events timed at once; the median over blocks is not moved by what else the machine does.
SMALL = 10_000
ROUNDS = 5  # Walks through the sizes up to the small one.
MOST_SECONDS = 300.0
MOST_MEMORY = 1200.0
_WARM = 500
_PLACES = 100
_DRAWN = 10


class Found:
    """Samples by measure and size, and why there are no more."""

    def __init__(self) -> None:
        self.samples: dict[tuple[str, int], list[float]] = {}
        self.stopped = ""

    def note(self, name: str, size: int, value: float) -> None:
        """One sample."""
        self.samples.setdefault((name, size), []).append(value)

    def fits(self, size: int, wanted: int, seconds: float, megabytes: float = 0.0) -> bool:
        """Whether so many events can be had, as far as the last size tells; says why where they cannot."""
        times = wanted / size if size else 0.0
        if times * seconds > MOST_SECONDS:
            self.stopped = f"{wanted:,} would take {times * seconds:.0f} s, more than {MOST_SECONDS:.0f}"
        elif times * megabytes > MOST_MEMORY:
            self.stopped = f"{wanted:,} would take {times * megabytes:.0f} MB, more than {MOST_MEMORY:.0f}"
        return not self.stopped


def _events() -> Iterator[Event]:
    return workload.stream(1, 1)


def _steps(
    found: Found, name: str, sizes: Sequence[int], step: Callable[[Event], object], events: Iterator[Event]
) -> Iterator[int]:
    """Step through a stream of events that is never held; gives back each size as it is reached."""
    block = min([BLOCK, *sizes])
    done = 0
    for size in sizes:
        while done < size:
            batch = list(islice(events, min(block, size - done)))
            start = time.process_time()
            for event in batch:
                step(event)
            found.note(name, size, 1e6 * (time.process_time() - start) / len(batch))
            done += len(batch)
        yield size


def receptor(sizes: Sequence[int]) -> Found:
    """The receptor's step."""
    return _stepping("receptor", sizes, lambda: Receptor(Settings().receptor))


def engine(sizes: Sequence[int]) -> Found:
    """The engine's step, and the size of its state."""
    return _stepping("engine", sizes, lambda: Engine(Settings()))


def _stepping(name: str, sizes: Sequence[int], make: Callable[[], Receptor | Engine]) -> Found:
    found = Found()
    warm = make()
    for event in islice(_events(), _WARM):
        warm.step(event)
    _again(found, name, sizes, lambda: make().step)
    last = make()
    for size in _steps(found, name, sizes, last.step, _events()):
        if isinstance(last, Engine):
            found.note("dump", size, len(encode(last.dump())) / 1e3)
    return found


def _again(found: Found, name: str, sizes: Sequence[int], make: Callable[[], Callable[[Event], object]]) -> None:
    """Walk through the small sizes some more times, each time from the start."""
    small = [size for size in sizes if size <= SMALL]
    for _ in range(ROUNDS - 1):
        for _ in _steps(found, name, small, make(), _events()):
            pass


def recording(sizes: Sequence[int]) -> Found:
    """Time and memory of a recording; the events are held, as they are in the program."""
    found = Found()
    Timeline(Settings()).extend(islice(_events(), _WARM))
    gc.collect()
    before, start = resident(), time.process_time()
    timeline = Timeline(Settings())
    for place, size in enumerate(_steps(found, "recording", sizes, timeline.add, _events())):
        held = resident() - before
        found.note("memory", size, 1e6 * held / size)
        found.note("total", size, held)
        following = sizes[place + 1] if place + 1 < len(sizes) else 0
        if not found.fits(size, following, time.process_time() - start, held):
            break
    _again(found, "recording", sizes, lambda: Timeline(Settings()).add)
    return found


def showing(sizes: Sequence[int]) -> Found:
    """Seek, view and envelope on a recording as it grows."""
    found, settings = Found(), Settings()
    film = Film(Timeline(settings), Subject(path="bench"), settings.screen.burn)
    head, events, before = Playhead(settings.timeline.play, live=True), _events(), resident()
    spent, size = 0.0, 0

    def grow(count: int) -> None:
        for event in islice(events, count):
            film.add(event)
            head.grow(event.at)

    for wanted in sizes:
        if not found.fits(size, wanted, spent, resident() - before):
            break
        start = time.process_time()
        grow(wanted - len(film))
        spent, size = spent + time.process_time() - start, wanted
        dice = Dice(5)
        for place in [dice.below(size) for _ in range(_PLACES)]:
            start = time.process_time()
            film.timeline.at(place)
            found.note("seek", size, 1e3 * (time.process_time() - start))
        for later in range(_PLACES):
            now = film.timeline.time_of(size) + later
            start = time.process_time()
            film.view(head, "main", now)
            found.note("view", size, 1e3 * (time.process_time() - start))
        for _ in range(_DRAWN):
            grow(8)
            columns = film.timeline.tracks["main"].columns
            start = time.process_time()
            columns.envelope("axis.frustration", 0, len(columns), 200)
            found.note("envelope", size, 1e3 * (time.process_time() - start))
    return found


def parsing(sizes: Sequence[int]) -> Found:
    """A log that grows, read whole at each size."""
    found = Found()
    lines, size, taken = claude.lines(1), 0, 0.0
    with tempfile.TemporaryDirectory(prefix="nooscope-bench-") as folder:
        path = Path(folder) / "session.jsonl"
        for wanted in sizes:
            if not found.fits(size, wanted, taken):
                break
            with path.open("ab") as file:
                file.writelines(islice(lines, wanted - size))
            size = wanted
            for _ in range(ROUNDS if size <= SMALL else 1):
                kit = make_kit()
                (session,) = sessions([path], kit)
                start = time.process_time()
                for _ in read_session(session, kit):
                    pass
                taken = time.process_time() - start
                found.note("parsing", size, 1e6 * taken / size)
    return found


# By name.
PROBES: dict[str, Callable[[Sequence[int]], Found]] = {
    each.__name__: each for each in (receptor, engine, recording, showing, parsing)
}
