"""Bookmarks of many sessions carried from one machine to another, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from blake3 import blake3

from core.errors import StoreError
from core.store.bookmarks import (
    SCHEMA,
    Bookmark,
    Bookmarks,
    Merged,
    bookmarks_fingerprint,
    bookmarks_folder,
    packed_bookmarks,
    rows_of,
    unpacked,
)
from core.store.compensation import Chain, Undo, recover

_CHAINS = "chains"


class Imported(NamedTuple):
    """What an import brought."""

    sessions: int
    added: int
    known: int
    """Bookmarks that were there already."""
    renamed: tuple[str, ...]
    """Names given because the bookmark's own was taken."""


def export_bookmarks(folder: Path | None = None) -> tuple[bytes, list[str]]:
    """The bookmarks of every session as one file, and what a person should know of those left out."""
    place = folder or bookmarks_folder()
    sessions: dict[str, list[dict[str, Any]]] = {}
    notices: list[str] = []
    for path in sorted(place.glob("*.json")):
        store = Bookmarks(folder=place, key=path.stem)
        try:
            rows = rows_of(store.content())
        except StoreError as error:
            notices.append(str(error))
            continue
        notices += store.notices
        if rows:
            sessions[path.stem] = rows
    return packed_bookmarks({"version": SCHEMA, "sessions": sessions}), notices


def import_bookmarks(data: bytes, folder: Path | None = None) -> Imported:
    """Take in an exported file; where any session's cannot be written, none is."""
    place = folder or bookmarks_folder()
    recover_imports(place)
    sessions = _sessions(data)
    results: list[tuple[list[dict[str, Any]], Merged]] = []
    name, touched = _chain_name(place / _CHAINS, data), [place / f"{key}.json" for key in sessions]
    with Chain(name, place / _CHAINS, _undoes(place), files=touched) as chain:
        for key, rows in sessions.items():
            store = Bookmarks(folder=place, key=key)
            own = {bookmarks_fingerprint(row) for row in rows_of(store.content())}
            fresh = [bookmarks_fingerprint(row) for row in rows if bookmarks_fingerprint(row) not in own]

            def take(store: Bookmarks = store, rows: list[dict[str, Any]] = rows) -> None:
                results.append((rows, store.merge(rows)))

            chain.step(f"merge {key}", take, "forget_bookmarks", {"key": key, "gone": " ".join(fresh)})
    given = [{str(row.get("name")) for row in rows} for rows, _ in results]
    return Imported(
        len(results),
        sum(len(merged.added) for _, merged in results),
        sum(merged.known for _, merged in results),
        tuple(
            name
            for names, (_, merged) in zip(given, results, strict=True)
            for name in merged.added
            if name not in names
        ),
    )


def _chain_name(folder: Path, data: bytes) -> str:
    """A name that no log of an import which could not be undone has."""
    number = 1
    while (folder / f"import-{blake3(data).hexdigest(length=8)}-{number}.chain").exists():
        number += 1
    return f"import-{blake3(data).hexdigest(length=8)}-{number}"


def recover_imports(folder: Path | None = None) -> list[Chain]:
    """Undo the imports that a crash left half done."""
    place = folder or bookmarks_folder()
    chains = place / _CHAINS
    return recover(chains, _undoes(place)) if os.path.isdir(chains) else []  # noqa: PTH112 the method raises


def _undoes(folder: Path) -> Mapping[str, Undo]:
    def forget(payload: Mapping[str, str]) -> None:
        Bookmarks(folder=folder, key=payload["key"]).forget(payload["gone"].split())

    return {"forget_bookmarks": forget}


def _sessions(data: bytes) -> dict[str, list[dict[str, Any]]]:
    try:
        content = unpacked(data, "the file of bookmarks")
        sessions = msgspec.convert(content.get("sessions"), dict[str, list[dict[str, Any]]])
        for rows in sessions.values():
            msgspec.convert(rows, list[Bookmark])
    except ValueError as error:
        raise StoreError(f"this is not a bookmarks file, or it is damaged: {error}") from error
    strange = [key for key in sessions if not (key.isalnum() and key.isascii())]
    if strange:
        raise StoreError(f"the file of bookmarks names a session that cannot be: {strange[0]!r}")
    return sessions
