"""`make fit DATA="FILE ..."`: fit the read-out and choose its phrases, and write both tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.fit import outlook
from bench.fit.runs import walked, whole_prompts
from bench.fit.tables import write_lexicon, write_outlook


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.fit")
    parser.add_argument("paths", nargs="+", type=Path, help="labelled runs, as `nooscope evaluate` reads them")
    parser.add_argument(
        "--prompts", type=Path, help="whole prompts of runs whose prompts are cut: task and prompt per line"
    )
    parser.add_argument("--date", required=True, help="the day written into the tables")
    given = parser.parse_args()
    runs = walked(given.paths, whole_prompts(given.prompts) if given.prompts else {})
    data = ", ".join(path.name for path in given.paths)
    fit = outlook.fit(runs)
    write_lexicon(fit, runs, given.date, data)
    write_outlook(fit, runs, given.date, data)


if __name__ == "__main__":
    main()
