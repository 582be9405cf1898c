"""`nooscope inspect query`: ask a dataset that `analyze --parquet` wrote."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import NoneType
from typing import Any

from tui.cli.streams import print_table

_WIDEST = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="?", metavar="SQL", help="SQL, or the name of a question")
    parser.add_argument("--on", metavar="FOLDER", type=Path, default=Path(), help="the dataset (default: this folder)")
    parser.add_argument("--list", action="store_true", help="list named questions and tables")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object per row")
    form.add_argument("--csv", action="store_true", help="comma-separated, with a header line")


def run(args: argparse.Namespace) -> int:
    from core.errors import UsageError
    from core.extras.batch.shares import ask

    if args.list:
        return _list()
    if not args.question:
        raise UsageError("give a query in SQL or the name of a question; --list shows them")
    answer = ask(args.on.expanduser(), args.question)
    if args.json:
        _print_json(answer.names, answer.rows)
    elif args.csv:
        _print_csv(answer.names, answer.rows)
    else:
        _print_table(answer.names, answer.rows)
    return 0


def _list() -> int:
    from core.extras.batch.shares import PARTITIONS, QUESTIONS, TABLES

    for name, question in QUESTIONS.items():
        print(f"{name:<18} {question.about}")
    for table, columns in TABLES.items():
        print(f"\n{table}")
        for column in (*columns, *PARTITIONS):
            print(f"  {column.name:<20} {column.type:<10} {column.about}")
    return 0


def _print_json(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    import msgspec

    from core.safe_text import safe_json_bytes

    for row in rows:
        line = msgspec.json.encode(dict(zip(names, row, strict=True)), enc_hook=str)
        print(safe_json_bytes(line).decode())


def _print_csv(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    import csv

    from core.safe_text import safe_cell

    writer = csv.writer(sys.stdout)
    writer.writerow(names)
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)


def _print_table(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    from core.report.formatting import plain

    cells = [[plain("-" if cell is None else str(cell), _WIDEST) for cell in row] for row in rows]
    right = [
        place for place in range(len(names)) if all(isinstance(row[place], int | float | NoneType) for row in rows)
    ]
    print_table([names, *cells], right)
    print(f"\n{len(rows):,} rows" if len(rows) != 1 else "\n1 row")
