"""A session as one page that plays it: no network, nothing but what stands in the file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

import msgspec

from core.agents.words import first_line, telling_line
from core.export.film import ExportedSession, Moment
from core.live.status import GLYPHS
from core.logs.event_redaction import one_line
from core.percept import AXES

VERSION = 1
"""Of the data in the page."""
_LINE = 240
"""Characters of what was asked, done and said, in the strip above."""
_BUDGET = 3_000_000
"""Characters that all words take in one page, about."""
_SIGNS = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page(film: ExportedSession) -> str:
    """The whole page."""
    style, script = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": escape(page_title(film)),
        "style": style,
        "script": script,
        "data": embedded(data(film)),
    }
    frame = _part("page.html")
    pieces = frame.split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def page_title(film: ExportedSession) -> str:
    """What the session is called: its agent, project and model."""
    summary, privacy = film.summary, film.privacy
    project = summary.project.rstrip("/").rpartition("/")[2]
    names = (summary.agent, privacy.name(project), privacy.name(", ".join(summary.models[:2])))
    return one_line(" · ".join(name for name in names if name) or "session", 120)


def embedded(value: Any) -> str:
    """JSON that no element around it can be ended by, and no script can mistake."""
    text = msgspec.json.encode(value).decode()
    for sign, code in _SIGNS.items():
        text = text.replace(sign, code)
    return text


def data(film: ExportedSession) -> dict[str, Any]:
    """What the page shows, in columns of one entry an event."""
    moments = film.moments
    start = moments[0].at if moments else 0.0
    agents = _Names()
    kinds, states, regimes, outcomes, reasons = _Names(), _Names(), _Names(), _Names(), _Names()
    columns = {
        "at": [round(moment.at - start, 2) for moment in moments],
        "agent": [agents(moment.agent) for moment in moments],
        "kind": [kinds(moment.kind) for moment in moments],
        "what": [moment.what for moment in moments],
        "outcome": [outcomes(moment.outcome or "") for moment in moments],
        "took": [None if moment.duration is None else round(moment.duration, 2) for moment in moments],
        "axes": [[round(100 * value) for value in moment.axes] for moment in moments],
        "state": [states(moment.state) for moment in moments],
        "regime": [regimes(moment.regime) for moment in moments],
        "status": [
            reasons(f"{moment.status.word}\t{one_line(moment.status.why, 200)}") for moment in moments
        ],
        "level": [moment.status.level for moment in moments],
        "context": [round(100 * moment.context) for moment in moments],
        "cost": [round(moment.cost, 4) for moment in moments],
        "line": [_line(moment) for moment in moments],
    }
    return {
        "version": VERSION,
        "title": page_title(film),
        "started": start,
        "madeUp": film.summary.synthetic_time,
        "priced": film.summary.tokens.cost is not None,
        "unpriced": film.summary.tokens.unpriced,
        "level": film.privacy.level,
        "axisNames": AXES,
        "glyphs": GLYPHS,
        "ending": [film.ending.word, one_line(film.ending.why, 200)],
        "names": {
            "agent": agents.names,
            "kind": kinds.names,
            "state": states.names,
            "regime": regimes.names,
            "outcome": outcomes.names,
            "status": reasons.names,
        },
        "columns": columns,
        "marks": [[mark.place, mark.kind, one_line(mark.name, 80)] for mark in film.marks],
        "words": _words(moments) if film.privacy.level == "transcript" else None,
    }


class _Names:
    """Numbers names in the order they come."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number


def _line(moment: Moment) -> list[str]:
    """What an event says in a line: the text or command, and of a failure its error."""
    text = one_line(first_line(moment.spoken.text), _LINE)
    if moment.outcome != "failure":
        return [text] if text else []
    return [text, one_line(telling_line(moment.spoken.result), _LINE)]


def _words(moments: Sequence[Moment]) -> list[list[str]]:
    """All words, shortened alike where they are too many for one page."""
    total = sum(len(embedded(moment.spoken)) for moment in moments)
    share = min(1.0, _BUDGET / total) if total else 1.0
    found = []
    for moment in moments:
        told = [_cut(text, share) for text in moment.spoken]
        found.append(told if told[1] else told[:1] if told[0] else [])
    return found


def _cut(text: str, share: float) -> str:
    clean = "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in text)
    most = int(len(clean) * share)
    return clean if share == 1.0 or len(clean) <= 200 else clean[: max(200, most)] + "…"


def _part(name: str) -> str:
    return files("core.export").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
