"""`make bench`: every figure with its aim, as a table; `ARGS=NAME` runs only some."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
from pathlib import Path

from bench.measure import Figure

SUITES = ("engine", "ingest", "timeline", "screen", "tuning", "fleet")
HISTORY = Path(__file__).parent / "history.jsonl"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; all if none is named"
    )
    parser.add_argument("--keep", action="store_true", help="add the figures to the history")
    args = parser.parse_args()
    unknown = [name for name in args.suites if name not in SUITES]
    if unknown:
        parser.error(f"no suite {unknown[0]!r}; there are {', '.join(SUITES)}")
    figures: list[Figure] = []
    for name in args.suites or SUITES:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        figures += importlib.import_module(f"bench.suites.{name}").figures()
    _print(figures)
    if args.keep:
        _keep(figures)
    return 0


def _print(figures: list[Figure]) -> None:
    rows = [("figure", "value", "aim", "", "ratio to yardstick", "note")]
    for each in figures:
        aim = "" if each.aim is None else f"{'≥' if each.better == 'higher' else '≤'} {each.aim:,g}"
        mark = {True: "✓", False: "✗", None: ""}[each.met]
        ratio = "" if each.ratio is None else f"{each.ratio:.2f} x {each.yardstick}"
        rows.append((each.name, f"{each.value:,.4g} {each.unit}", aim, mark, ratio, each.note))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    print(f"\n{platform.machine()}, Python {platform.python_version()}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _keep(figures: list[Figure]) -> None:
    record = {
        "at": int(time.time()),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "figures": [each._asdict() for each in figures],
    }
    with HISTORY.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    sys.exit(main())
