"""A time is the same whatever was read before it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.logs import times
from core.logs.times import seconds

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2999, 12, 31))  # noqa: DTZ001 read as UTC below


def written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


@given(first=MOMENTS, second=st.integers(0, 59), thousandth=st.integers(0, 999))
def test_the_memo_of_minutes_changes_no_time(first: datetime, second: int, thousandth: int) -> None:
    text = written(first.replace(second=second, microsecond=thousandth * 1000, year=max(1970, first.year)))
    times._minutes.clear()
    alone = seconds(text)
    assert alone == datetime.fromisoformat(text).astimezone(UTC).timestamp()
    times._minutes.clear()
    seconds(written(first))
    assert seconds(text) == alone


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
def test_what_is_no_time_is_none_also_in_a_minute_that_was_read(text: str) -> None:
    times._minutes.clear()
    alone = seconds(text)
    for start in ("2026-01-05T10:00:00.000Z", "1969-12-31T23:59:00.000Z"):
        seconds(start)
    assert alone is None
    assert seconds(text) is None
