"""A database of what can be made again: its tables are made anew where they are of another version."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence


def prepare(store: sqlite3.Connection, version: int, statements: Sequence[str]) -> None:
    """Bring a file to a version, unless another nooscope has just done so: its tables would be emptied.

    What an older version kept is overwritten, as it may have kept what is known for a secret by now.
    """
    if _version(store) == version:
        return
    store.execute("PRAGMA secure_delete = ON")
    store.execute("BEGIN IMMEDIATE")
    if _version(store) != version:
        for statement in statements:
            store.execute(statement)
        store.execute(f"PRAGMA user_version = {version}")
    store.commit()


def _version(store: sqlite3.Connection) -> int:
    return int(store.execute("PRAGMA user_version").fetchone()[0])
