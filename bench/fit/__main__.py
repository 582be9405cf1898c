"""`make fit DATA="FILE ..."`: fit the read-out and the impulses, and write both tables."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from bench.fit import felt, impulses, outlook
from bench.fit.runs import walked
from bench.fit.tables import write_impulses, write_lexicon, write_outlook


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.fit")
    parser.add_argument(
        "paths", nargs="+", type=Path, help="labelled runs, as `nooscope evaluate` reads them"
    )
    parser.add_argument("--date", required=True, help="the day written into the tables")
    parser.add_argument("--only", choices=("outlook", "impulses"), help="fit one of the two")
    given = parser.parse_args()
    runs = walked(given.paths)
    data = ", ".join(path.name for path in given.paths)
    if given.only != "impulses":
        found = outlook.fit(runs)
        write_lexicon(found, runs, given.date, data)
        write_outlook(found, runs, given.date, data)
    if given.only != "outlook":
        said = impulses.sentences(runs)
        write_impulses(felt.fit(runs, said), impulses.fit(runs, said), runs, given.date, data)
        subprocess.run([sys.executable, "-m", "bench.fit.profiles"], check=True)


if __name__ == "__main__":
    main()
