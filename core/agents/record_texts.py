"""All texts of one record of any agent, each with its speaker, for search."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from core.agents.tables import known_pairs, known_words
from core.agents.values import decode
from core.logs.lines import seconds
from core.logs.redact.text import redact, redact_torn
from core.logs.redact.values import redact_value
from core.safe_text import strip_colours

Speaker = Literal["asked", "said", "call", "result"]

LONGEST = 12_000  # Characters of one text that are taken; of a longer one its beginning and its end.
_BEGINNING = 8_000
_MARGIN = 8_192  # Characters looked at beyond a cut, so that a secret across it is still seen as one.
_DEEPEST = 12
_BLOB = 400  # Characters without a blank from which a text is data, not words.
# Types and roles without words of the conversation, or with a prompt that another record has too.
_LEFT_OUT = known_words("no-words")
# Names of values that are not words, or that repeat other values of the record.
_NAMES = known_words("no-word-names")
_SPEAKERS: dict[str, Speaker] = known_pairs("speakers")
_HOLDERS: dict[str, Speaker] = known_pairs("holders")
_TIMES = ("timestamp", "time", "ts", "created_at", "at", "createdAt", "start_time", "created")
_INSIDE = ("payload", "message", "data", "info", "time", "msg")


class RecordText(NamedTuple):
    """One text of a record."""

    speaker: Speaker
    text: str


def raw_texts(data: bytes) -> list[RecordText]:
    """Return the texts of a record in order, not redacted; never raises."""
    value = decode(data)
    return _all_texts(data if value is None else value)


def value_texts(value: Any) -> list[RecordText]:
    """Return the redacted and bounded texts of a decoded record, or of bytes that are not JSON."""
    return [RecordText(one.speaker, text) for one in _all_texts(value) if (text := bounded(one.text))]


def _all_texts(value: Any) -> list[RecordText]:
    if isinstance(value, bytes):
        plain = strip_colours(value.decode("utf-8", "replace"))
        return [RecordText("said", plain)] if plain.strip() and "\0" not in plain[:_BLOB] else []
    texts: list[RecordText] = []
    _collect(redact_value(value), "said", texts, 0)
    return texts


def record_time(value: Any) -> float | None:
    """Return the time of a record; None if it has none."""
    if not isinstance(value, dict):
        return None
    holders = [value, *(inner for name in _INSIDE if isinstance(inner := value.get(name), dict))]
    holders += [inner for holder in holders[1:] if isinstance(inner := holder.get("time"), dict)]
    times = (seconds(holder.get(name)) for holder in holders for name in _TIMES)
    return next((at for at in times if at), None)


def bounded(text: str) -> str:
    """Return a text without secrets, and without its middle if it is long."""
    if len(text) <= LONGEST:
        return redact(text).strip()
    beginning = redact_torn(text[: _BEGINNING + _MARGIN])[:_BEGINNING]
    end = LONGEST - _BEGINNING
    return f"{beginning}\n{redact(text[-end - _MARGIN :])[-end:]}".strip()


def _collect(value: Any, speaker: Speaker, texts: list[RecordText], depth: int) -> None:
    if isinstance(value, str):
        _collect_text(value, speaker, texts, depth)
    elif depth > _DEEPEST:
        return
    elif isinstance(value, list):
        for item in value:
            _collect(item, speaker, texts, depth + 1)
    elif isinstance(value, dict):
        for name in ("type", "role"):
            kind = value.get(name)
            if isinstance(kind, str):
                if kind in _LEFT_OUT:
                    return
                speaker = _SPEAKERS.get(kind, speaker)
        for name, item in value.items():
            if name not in _NAMES and (isinstance(item, dict | list) or (isinstance(item, str) and item)):
                _collect(item, _HOLDERS.get(name, speaker), texts, depth + 1)


def _collect_text(text: str, speaker: Speaker, texts: list[RecordText], depth: int) -> None:
    if text[:1] in ("{", "[") and depth <= _DEEPEST:
        inner = decode(text)
        if isinstance(inner, dict | list):
            _collect(redact_value(inner), speaker, texts, depth + 1)
            return
    if len(text) > 1 and not (len(text) > _BLOB and _BLANK.search(text, 0, _BLOB) is None):
        texts.append(RecordText(speaker, strip_colours(text)))


_BLANK = re.compile(r"\s|[^\x00-\x7f]")
