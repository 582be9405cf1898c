"""`make bench`: every figure with its aim; `ARGS=NAME` runs only some, `ARGS=--scale` ever longer work."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from bench import records, scale, suite
from bench.measure import Figure


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(suite.NAMES)}; all if none is named")
    parser.add_argument("--keep", action="store_true", help="add the figures to the history")
    parser.add_argument("--scale", action="store_true", help="measure 1,000 to 1,000,000 events instead")
    parser.add_argument("--most", type=int, metavar="N", help="with --scale: stop at N events, keep nothing")
    args = parser.parse_args(words)
    unknown = [name for name in args.suites if name not in suite.NAMES]
    if unknown:
        parser.error(f"no suite {unknown[0]!r}; there are {', '.join(suite.NAMES)}")
    if args.keep and (args.suites or args.scale):
        parser.error("only a run of all suites is kept in the history")
    if args.scale:
        return _scale(args.most)
    figures: list[Figure] = []
    for name in args.suites or suite.NAMES:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        figures += suite.measure(name)
    record = records.taken(figures)
    print(f"\n{record.machine}, Python {record.python}")
    _print([records.HEADS, *map(records.cells, record.figures)])
    if args.keep:
        records.keep(record)
        print("\nkept; `make docs` brings it into docs/figures.md")
    return 0


def _scale(most: int | None) -> int:
    sizes = [size for size in scale.SIZES if most is None or size <= most]
    start = time.monotonic()
    found = scale.run(sizes or [most or 1])
    print(f"\n{found.machine}, Python {found.python}, {time.monotonic() - start:.0f} s")
    _print(scale.rows(found))
    for name, why in found.stopped.items():
        print(f"{name}: {why}")
    if most is None:
        scale.save(found)
        print("\nkept; `make docs` brings it into docs/figures.md")
    return 0


def _print(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main())
