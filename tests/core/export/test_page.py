"""One page that plays a session: safe whatever the log says, small, and asking no network."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.export.exporters import data, embedded, page
from core.export.film import Level
from tests.core.export.films import HOSTILE, SECRET, hostile, made
from tests.core.logs import log_lines as logs


class _Parts(HTMLParser):
    """Which elements a page has, and what its scripts and styles hold."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.held: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._inside = tag if tag in self.held else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.held[self._inside].append(data)


def parts(text: str) -> _Parts:
    parser = _Parts()
    parser.feed(text)
    return parser


def held(text: str) -> Any:
    return json.loads(parts(text).held["script"][0])


@pytest.mark.parametrize("level", ["strict", "excerpts", "transcript"])
def test_hostile_words_stay_words(tmp_path: Path, level: Level) -> None:
    text = page(made(hostile(tmp_path / "s-1.jsonl"), level))
    found = parts(text)
    assert found.tags.count("script") == 2
    assert "img" not in found.tags
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert "</script><script>window" not in text
    assert SECRET not in text
    assert "\u2028" not in text and "\x1b" not in text


def test_each_level_shows_what_it_says(tmp_path: Path) -> None:
    log = hostile(tmp_path / "s-1.jsonl")
    strict, excerpts, transcript = (page(made(log, level)) for level in ("strict", "excerpts", "transcript"))
    for word in ("please", "make", "Makefile", "no rule", "claude-opus-4", "project"):
        assert word not in json.dumps(held(strict)), word
    assert "please" in excerpts and "Makefile" in excerpts and held(excerpts)["words"] is None
    assert "1 passed" not in excerpts
    assert "1 passed" in transcript
    told = held(transcript)["words"]
    assert "make test" in told[2][0] and "no rule" in told[2][1] and "<redacted>" in told[2][1]


def test_the_policy_lets_only_its_own_script_run(tmp_path: Path) -> None:
    text = page(made(hostile(tmp_path / "s-1.jsonl")))
    found = parts(text)
    policy = next(value or "" for name, value in found.attributes if value and "default-src" in value)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for kind, held_ in (("script", found.held["script"][-1]), ("style", found.held["style"][0])):
        code = b64encode(sha256(held_.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{code}'" in policy
    assert not [value for name, value in found.attributes if name in ("src", "href", "action")]
    assert re.findall(r"(?:https?:)?//[a-z0-9.]+\.[a-z]+", text.replace("http://www.w3.org/2000/svg", "")) == []


@given(st.recursive(st.text() | st.just(HOSTILE), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_embedded_data_reads_back_and_ends_no_element(value: Any) -> None:
    text = embedded(value)
    assert json.loads(text) == value
    assert not set("<\u2028\u2029") & set(text)


def test_a_thousand_events_take_a_few_megabytes_at_most(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    long = "x <&> " * 600
    calls = [logs.call(n, f"t{n}", "Bash", {"command": long}) + logs.result(n, f"t{n}", long) for n in range(500)]
    log.write_bytes(b"".join(calls))
    film = made(log, "transcript")
    assert len(film.moments) >= 1000
    assert 1_000_000 < len(page(film)) < 4_500_000


def test_columns_are_as_long_as_the_session_and_time_never_runs_back(tmp_path: Path) -> None:
    film = made(hostile(tmp_path / "s-1.jsonl"))
    shown = data(film)
    assert {len(column) for column in shown["columns"].values()} == {len(film.events)}
    assert shown["columns"]["at"] == sorted(shown["columns"]["at"])
    assert all(0 <= place < len(film.events) for place, _, _ in shown["marks"])


def test_it_opens_at_its_end_with_its_outcome(tmp_path: Path) -> None:
    text = page(made(hostile(tmp_path / "s-1.jsonl")))
    shown = held(text)
    assert shown["ending"][0] and shown["outcome"]
    assert text.index('id="outcome"') < text.index('id="film"')
    assert "let at = Math.max(0, col.at.length - 1)" in text
    assert "if (at >= count - 1) at = 0;" in text


def test_the_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    log = hostile(tmp_path / "s-1.jsonl")
    assert page(made(log)) == page(made(log))


def test_no_other_file_is_read_whatever_a_log_points_at(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("private words of another file")
    place = {"file": str(other), "offset": 0, "length": 29}
    told = {"kind": "prompt", "at": 1.0, "session": "s", "characters": 3, "where": place}
    use = {"kind": "tool_use", "at": 2.0, "session": "s", "id": "a", "tool": "Bash", "result": "00000000deadbeef"}
    use |= {"where": place, "outcome": "failure"}
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in (told, use)))
    film = made(log, "transcript")
    assert len(film.moments) == 2
    assert "private" not in page(film)
    assert [moment.spoken.result for moment in film.moments] == ["", ""]
