"""Times as logs write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.logs.lines import seconds

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2999, 12, 31))  # noqa: DTZ001 read as UTC below


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


@given(MOMENTS)
def test_a_time_is_read_to_the_thousandth(moment: datetime) -> None:
    text = written(moment)
    assert seconds(text) == datetime.fromisoformat(text).astimezone(UTC).timestamp()
    assert seconds(f" {text}\n") == seconds(text) == seconds(text[:-1])


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-05T10:00:60.000Z",
        "2026-01-05T10:00:99.000Z",
        "2026-01-05T10:00: 1.000Z",
        "2026-01-05T10:00:-1.000Z",
        "2026-01-05T10:00:0٣.000Z",
        "2026-01-05T10:00:1_.000Z",
        "1969-12-31T23:59:59.000Z",
        "1969-12-31T23:59:01.500Z",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert seconds(text) is None
