"""A recording of a million events: what it takes to make one, and to seek in it."""

from __future__ import annotations

import time

from bench.measure import Figure, quantile, resident
from bench.suites.timeline import seek_times
from bench.workload import session
from core.settings import Settings
from core.timeline.timeline import Timeline

COUNT = 1_000_000


def figures() -> list[Figure]:
    timeline = Timeline(Settings())
    events = session(COUNT)
    marks = []
    for part in range(0, COUNT, COUNT // 10):
        start = time.process_time()
        timeline.extend(events[part : part + COUNT // 10])
        marks.append(time.process_time() - start)
    waits = seek_times(timeline)
    return [
        Figure(
            "recording, last tenth of a million beside the second",
            marks[-1] / marks[1],
            "x",
            1.25,
            note=f"{COUNT / sum(marks):,.0f} events/s over all, {resident():,.0f} MB",
        ),
        Figure("seek in a million events, p50", quantile(waits, 0.5), "ms"),
        Figure("seek in a million events, p99", quantile(waits, 0.99), "ms", 12),
    ]
