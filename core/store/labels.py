"""A person's labels: of firings right, wrong or missed, of sessions good or bad; stored with the bookmarks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from core.errors import StoreError
from core.store.bookmarks import SCHEMA, Bookmarks, bookmark_rows, bookmarks_folder

Verdict = Literal["right", "wrong", "missed"]

_TABLE = "labels"
_SESSION = "session"


class Label(msgspec.Struct, frozen=True, order=True):
    """A judgement of one moment."""

    place: int  # The event's place in the recording, from 0.
    at: float
    verdict: Verdict
    name: str = ""  # The judged firing; blank if something unnamed was missed.
    agent: str = "main"
    created: float = 0.0

    @property
    def key(self) -> tuple[int, str, str, bool]:
        """Key under which a second label of the same thing replaces the first."""
        return self.place, self.agent, self.name, self.verdict == "missed"


class SessionLabel(msgspec.Struct, frozen=True):
    """Whether a session went well, with what the outlook and the loop detectors read in it."""

    good: bool
    created: float
    counts: dict[str, dict[str, int]]  # By stage of the outlook.
    reached: dict[str, int]  # By detector, the highest limit at which it fires.

    @property
    def word(self) -> str:
        """The judgement in one word."""
        return "good" if self.good else "bad"


class Labels(Bookmarks):
    """One session's labels; its bookmarks, and all else in the file, stay as they are."""

    def judged(self) -> tuple[Label, ...]:
        """All of them, by place."""
        return tuple(sorted(self._readable(bookmark_rows(self.content(), _TABLE), Label, "a label")))

    def judge(self, label: Label) -> None:
        """Store a label; an earlier one of the same firing is replaced."""
        self._replace(label, [label])

    def withdraw(self, label: Label) -> None:
        """Take a judgement back."""
        self._replace(label, [])

    def session(self) -> SessionLabel | None:
        """Return the label of the whole session."""
        row = self.content().get(_SESSION)
        labels = self._readable([] if row is None else [row], SessionLabel, "the session's label")
        return labels[0] if labels else None

    def judge_session(self, label: SessionLabel | None) -> None:
        """Replace the label of the whole session; None withdraws it."""
        with self._locked():
            self._file.write({**self._sound_content(), _SESSION: msgspec.to_builtins(label)})

    def _replace(self, old: Label, new: list[Label]) -> None:
        with self._locked():
            content = self._sound_content()
            rows = [row for row in bookmark_rows(content, _TABLE) if not _is_same_label(row, old)]
            self._file.write({**content, _TABLE: rows + msgspec.to_builtins(new)})


def all_labels(notices: list[str], folder: Path | None = None) -> Iterator[tuple[Labels, list[Label]]]:
    """Yield the labels of every session; what a person should know of those left out goes into `notices`."""
    place = folder or bookmarks_folder()
    for path in sorted(place.glob("*.json")):
        store = Labels(folder=place, key=path.stem)
        try:
            yield store, list(store.judged())
        except StoreError as error:
            notices.append(str(error))
        notices += store.notices


def export_labels(folder: Path | None = None) -> tuple[bytes, list[str]]:
    """The labels of every session as JSON, and what a person should know of those left out."""
    notices: list[str] = []
    firings: dict[str, list[Label]] = {}
    outcomes: dict[str, SessionLabel] = {}
    for store, labels in all_labels(notices, folder):
        if labels:
            firings[store.key] = labels
        if label := store.session():
            outcomes[store.key] = label
    body = msgspec.json.encode({"version": SCHEMA, "sessions": firings, "outcomes": outcomes})
    return msgspec.json.format(body, indent=2) + b"\n", notices


class Score(NamedTuple):
    """Firings held against labels."""

    hits: int  # Right firings found, and missed moments at which something fires.
    misses: int  # Right firings and missed moments at which nothing fires.
    false: int  # Firings a person called wrong.

    @property
    def precision(self) -> float | None:
        """Share of judged firings that are right; None if none was judged."""
        return self.hits / (self.hits + self.false) if self.hits + self.false else None

    @property
    def recall(self) -> float | None:
        """Share of what should fire that does; None if nothing should."""
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else None


def score(labels: Iterable[Label], fired: Iterable[tuple[float, str, str]], near: float) -> Score:
    """Compare firings, as (time, agent, name), with labels; up to `near` seconds apart is the same moment."""
    firings = list(fired)
    hits = misses = false = 0
    for label in labels:
        fires = any(
            abs(at - label.at) <= near and agent == label.agent and label.name in ("", name)
            for at, agent, name in firings
        )
        if label.verdict == "wrong":
            false += fires
        elif fires:
            hits += 1
        else:
            misses += 1
    return Score(hits, misses, false)


def _is_same_label(row: dict[str, Any], label: Label) -> bool:
    key = (row.get("place"), row.get("agent", "main"), row.get("name", ""), row.get("verdict") == "missed")
    return key == label.key
