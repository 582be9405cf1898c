"""A place as a person writes it, and what is said where there is none such."""

from __future__ import annotations

import pytest

from core.errors import UsageError
from core.events import Prompt
from core.settings import Settings
from core.timeline.places import parse_place
from core.timeline.timeline import Timeline


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    made = Timeline(Settings())
    made.extend([Prompt(at=1000.0 + 10.0 * number, characters=5) for number in range(10)])
    return made


@pytest.mark.parametrize(
    ("spoken", "place"),
    [
        ("0", 0),
        ("10", 10),
        ("-1", 10),
        ("-99", 0),
        ("00:00", 1),
        ("1:30", 10),
        ("0:01:00", 7),
        ("1m", 7),
        ("90s", 10),
        ("start", 0),
        (" End ", 10),
    ],
)
def test_a_place_is_found(timeline: Timeline, spoken: str, place: int) -> None:
    assert parse_place(timeline, spoken) == place


@pytest.mark.parametrize("spoken", ["11", "99999", "1:31", "2m", "91s", "1:00:00"])
def test_a_place_after_the_end_is_said_to_be_that(timeline: Timeline, spoken: str) -> None:
    with pytest.raises(UsageError, match=r"is after the end: the session has 10 events, up to 00:01:30"):
        parse_place(timeline, spoken)


@pytest.mark.parametrize("spoken", ["99:99", "1:60", "0:0:60", "soon", "", "1:2:3:4"])
def test_what_is_no_place_is_said_to_be_none(timeline: Timeline, spoken: str) -> None:
    with pytest.raises(UsageError, match="is not a place"):
        parse_place(timeline, spoken)
