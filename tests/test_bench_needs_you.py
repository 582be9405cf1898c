"""The measurement of how soon a person hears that they are needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import needs_you
from tests.core.live.need_stories import OTHERS, STORIES


def test_the_kept_run_has_every_format_and_each_place_within_a_second() -> None:
    kept = needs_you.load().delays
    assert {(one.need, one.agent) for one in kept} == {("question", name) for name in STORIES} | set(OTHERS)
    for one in kept:
        assert set(one.told) == set(needs_you.PLACES)
        late = {place: ms for place, ms in one.told.items() if ms is None or ms > 1000}
        assert not late, f"{one.need} of {one.agent}: {late}"


@pytest.mark.parametrize(
    ("value", "moved"),
    [
        ("2026-03-01T10:00:02.000Z", "2026-03-01T10:01:42.000Z"),
        (1_770_000_000.5, 1_770_000_100.5),
        (1_770_000_000_000, 1_770_000_100_000),
        ([{"at": 1_770_000_000}], [{"at": 1_770_000_100}]),
        ("migrate 2026-03-01T10:00:02Z", "migrate 2026-03-01T10:00:02Z"),
        (True, True),
        (42, 42),
    ],
)
def test_a_record_is_moved_in_time(value: object, moved: object) -> None:
    assert needs_you.shifted(value, 100.0) == moved


def test_a_story_begins_a_moment_ago(tmp_path: Path) -> None:
    now = needs_you.Now()
    told = now([{"timestamp": "2026-03-01T10:00:00Z"}])
    begins = needs_you.first_time(told)
    later = needs_you.first_time(now({"timestamp": "2026-03-01T10:00:02Z"}))
    assert begins is not None and later is not None and later - begins == pytest.approx(2.0, abs=0.01)
