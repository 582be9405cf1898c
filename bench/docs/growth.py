"""Plots of cost against size of work, and tables of kept runs, from what the bench measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil, floor, log10

from bench import needs_you, records, scale
from bench.docs.plot import Axis, Curve, draw, quarters
from bench.docs.tables import table
from bench.measure import Figure
from bench.records import Record, short
from bench.scale import MEASURES, Scale, size_name

SHOWN = 6  # Runs that the history shows, the newest.


def curve(name: str, found: Scale | None = None) -> str:
    """One measure at every size, against what it would be if it never changed."""
    found = scale.load() if found is None else found
    measure, points = MEASURES[name], found.points(name)
    curves = [Curve("measured", points, dots=True)]
    across = Axis(found.sizes[0], found.sizes[-1], found.sizes, True, size_name)
    if measure.flat:
        start = scale.reference(points)
        curves.append(Curve(f"as at {size_name(start[0])}", [(size, start[1]) for size in found.sizes]))
        up = quarters(0.0, _above(max(value for _, value in points)))
    else:
        up = _decades(min(value for _, value in points), max(value for _, value in points))
    return draw(measure.title, (measure.of, across), (measure.unit, up), curves)


def _above(value: float) -> float:
    """The next round figure that leaves some room."""
    unit = 10.0 ** floor(log10(value))
    return next(unit * times for times in (1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12) if unit * times >= 1.1 * value)


def _decades(least: float, most: float) -> Axis:
    """Powers of ten around some values."""
    low = floor(log10(least))
    marks = [10.0**power for power in range(low, max(ceil(log10(most)), low + 1) + 1)]
    return Axis(marks[0], marks[-1], marks, True)


def growth() -> str:
    """Every measure at every size."""
    heads, *rows = scale.rows(scale.load())
    return table(heads, rows)


def measured() -> str:
    """When and where the sizes were walked through, and what was left out."""
    found = scale.load()
    lines = [f"Measured {records.moment(found.at)} UTC on {found.machine}, Python {found.python}."]
    reasons: dict[str, list[str]] = {}
    for name, why in found.stopped.items():
        reasons.setdefault(why, []).append(MEASURES[name].title.lower())
    lines += [f"Not measured further: {', '.join(names)} ({why})." for why, names in reasons.items()]
    return "\n".join(lines)


def bench() -> str:
    """The newest kept run, every figure with its aim, beside the newest one of another processor."""
    kept = records.kept()
    if not kept:
        return "No run is kept yet: `make bench ARGS=--keep` adds one."
    last = kept[-1]
    shown = [last]
    shown += [record for record in reversed(kept) if record.processor != last.processor][:1]
    rows = []
    for figure in last.figures:
        name, _, aim, _, ratio, note = records.cells(figure)
        values = [_value_and_mark(record.figure(name)) for record in shown]
        rows.append((name, aim, *values, ratio, note))
    runs = [
        f"- {record.machine}, Python {record.python}, measured {record.day} UTC: {_met(record)}." for record in shown
    ]
    heads = ("figure", "aim", *(record.processor for record in shown), "ratio to yardstick", "note")
    return "\n".join([*runs, "", table(heads, rows)])


def _value_and_mark(figure: Figure | None) -> str:
    if figure is None:
        return ""
    _, value, _, mark, _, _ = records.cells(figure)
    return f"{value} {mark}".rstrip()


def _met(record: Record) -> str:
    aims = [figure.met for figure in record.figures if figure.met is not None]
    return f"{sum(aims)} of {len(aims)} aims met"


def history() -> str:
    """Every figure of the newest kept run, and what it was in those before."""
    kept = records.kept()[-SHOWN:]
    if len(kept) < 2:
        return "It begins with the second run that is kept."
    rows = []
    for figure in kept[-1].figures:
        then = [record.figure(figure.name) for record in kept]
        rows.append((figure.name, figure.unit, *("" if each is None else short(each.value) for each in then)))
    machines = [f"- {record.day}: {record.machine}, Python {record.python}" for record in kept]
    return "\n".join([table(("figure", "", *(record.day for record in kept)), rows), "", *machines])


def needs() -> str:
    """How long each format and place took to say that the person is needed."""
    found = needs_you.load()
    rows = [
        (one.need, one.agent, *("never" if ms is None else f"{ms:.0f}" for ms in one.told.values()))
        for one in found.delays
    ]
    where = f"Measured {records.moment(found.at)} UTC on {found.machine}, Python {found.python}; milliseconds."
    return f"{where}\n\n{table(('need', 'agent', *needs_you.PLACES), rows)}"


# By the word that stands in a page's mark.
TABLES: dict[str, Callable[..., str]] = {
    "growth": growth,
    "needs": needs,
    "measured": measured,
    "bench": bench,
    "history": history,
}

# By the name of the file.
FIGURES: dict[str, Callable[[], str]] = {f"size-{name}": partial(curve, name) for name in MEASURES}
