"""The bench keeps what it measures, tells it truly, and what it measured is flat."""

from __future__ import annotations

import json
import platform
import re
import socket
from pathlib import Path

import pytest

from bench import records, scale, suite
from bench.__main__ import main
from bench.docs import growth, made, plot
from bench.measure import Figure, machine, peak, resident
from bench.records import Record

ROOT = Path(__file__).resolve().parents[1]
FAST = Figure("steps", 31_250.4, "a second", 25_000, "higher", "a bare loop", 1.25, "50,000 events")
SLOW = Figure("seek", 17.25, "ms", 16)
FREE = Figure("recording", 9000.0, "events/s")


def record(at: int, *figures: Figure) -> Record:
    return Record(at, "a processor, 2 cores, 24 GB, Linux x86_64", "3.11.7", figures)


@pytest.fixture(scope="module")
def tiny() -> scale.Scale:
    return scale.run([100, 200])


def test_runs_come_back_as_they_were_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert records.kept(path) == []
    newer, older = record(1_760_000_000, FAST, SLOW, FREE), record(1_750_000_000, FAST)
    records.keep(newer, path)
    records.keep(older, path)
    assert records.kept(path) == [older, newer]
    assert [json.loads(line)["at"] for line in path.read_text("utf-8").splitlines()] == [newer.at, older.at]


def test_a_row_says_whether_the_aim_was_met() -> None:
    assert records.cells(FAST) == (
        *("steps", "31,250 a second", "≥ 25,000", "✓", "1.25 x a bare loop", "50,000 events"),
    )
    assert records.cells(SLOW)[:4] == ("seek", "17.2 ms", "≤ 16", "✗")
    assert records.cells(FREE)[1:4] == ("9,000 events/s", "", "")


def test_the_machine_is_told_without_its_name() -> None:
    told = machine()
    assert re.fullmatch(r".+, \d+ cores, \d+ GB, \w+ \w+", told)
    assert platform.system() in told
    assert socket.gethostname() not in told and "/" not in told
    assert records.taken([FAST]).python.startswith(platform.python_version())
    assert resident() > 5
    assert peak() >= resident()


def test_only_whole_runs_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    for words, why in (
        (["--keep", "engine"], "only a run of all suites is kept"),
        (["--keep", "--scale"], "only a run of all suites is kept"),
        (["nonsense"], "no suite 'nonsense'; there are engine,"),
    ):
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 2
        assert why in capsys.readouterr().err


def test_every_suite_can_be_named() -> None:
    there = {path.stem for path in (ROOT / "bench" / "suites").glob("[a-z]*.py")}
    assert set(suite.NAMES) == there


def test_a_run_over_tiny_sizes_measures_everything(tiny: scale.Scale) -> None:
    assert list(tiny.values) == list(scale.MEASURES)
    assert all(len(values) == 2 for values in tiny.values.values())
    assert tiny.stopped == {}
    for name in set(scale.MEASURES) - {"memory", "total"}:
        assert min(tiny.values[name]) > 0, name
    assert tiny.values["dump"][1] > tiny.values["dump"][0]
    assert tiny.values["engine"][1] > tiny.values["receptor"][1]


def test_a_run_over_sizes_comes_back_as_it_was_saved(tiny: scale.Scale, tmp_path: Path) -> None:
    path = tmp_path / "scale.json"
    scale.save(tiny, path)
    assert scale.load(path) == tiny
    heads, *rows = scale.rows(tiny)
    assert heads[1:3] == ("100", "200")
    assert [row[0] for row in rows] == [measure.title for measure in scale.MEASURES.values()]


def test_a_probe_stops_before_it_takes_too_long_and_says_so() -> None:
    from bench.scale.probes import Found

    found = Found()
    assert found.fits(0, 1000, 0.0)
    assert found.fits(300_000, 1_000_000, 40.0, 300.0)
    assert not found.fits(300_000, 1_000_000, 120.0)
    assert found.stopped == "1,000,000 would take 400 s, more than 300"
    assert not Found().fits(300_000, 1_000_000, 1.0, 400.0)


def test_plots_are_drawn_from_the_data() -> None:
    found = scale.Scale(0, "", "", [1000, 10_000, 100_000], {"engine": [30.0, 40.0, 60.0]}, {})
    drawn = growth.curve("engine", found)
    assert [drawn.count(f">{name}</text>") for name in ("1k", "10k", "100k")] == [1, 1, 1]
    dots = [tuple(map(float, dot)) for dot in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert dots[1][0] - dots[0][0] == dots[2][0] - dots[1][0]
    assert dots[0][1] > dots[1][1] > dots[2][1]
    assert found.growth("engine") == 1.5
    assert growth.curve("engine", found._replace(values={"engine": [30.0, 40.0, 41.0]})) != drawn


def test_an_axis_of_powers_spaces_them_evenly() -> None:
    axis = plot.Axis(1000, 1_000_000, [], logarithmic=True)
    assert [axis.share(10.0**power) for power in (3, 4, 6)] == pytest.approx([0, 1 / 3, 1])
    assert plot.quarters(0.0, 8.0).share(2.0) == 0.25


def test_the_page_is_made_from_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "figures.md").read_text("utf-8")
    kept: list[Record] = []
    monkeypatch.setattr(records, "kept", lambda: kept)
    assert "No run is kept yet" in made(page)
    kept.append(record(1_750_000_000, FAST, SLOW._replace(value=12.0)))
    assert "It begins with the second run" in made(page)
    kept.append(record(1_760_000_000, FAST, SLOW, FREE))
    told = made(page)
    assert "- a processor, 2 cores, 24 GB, Linux x86_64" in told
    assert "measured 2025-10-09 08:53 UTC: 1 of 2 aims met." in told and "2025-06-15 15:06 UTC:" not in told
    assert "| seek | ≤ 16 | 17.2 ms ✗ |  |  |" in told
    assert "| figure |  | 2025-06-15 15:06 | 2025-10-09 08:53 |" in told
    assert "| seek | ms | 12 | 17.2 |" in told
    assert "| recording | events/s |  | 9,000 |" in told
    kept.insert(0, record(1_740_000_000, SLOW._replace(value=8.0))._replace(machine="another, 4 cores"))
    told = made(page)
    assert "- another, 4 cores, Python" in told and "measured 2025-02-19 21:20 UTC: 1 of 1 aims met." in told
    assert "| figure | aim | a processor | another | ratio to yardstick | note |" in told
    assert "| seek | ≤ 16 | 17.2 ms ✗ | 8 ms ✓ |  |  |" in told


def test_every_measure_has_its_plot_on_the_page() -> None:
    page = (ROOT / "docs" / "figures.md").read_text("utf-8")
    for name in scale.MEASURES:
        assert page.count(f"(figures/size-{name}.svg)") == 1


@pytest.mark.parametrize("name", ["receptor", "engine", "dump"])
def test_what_was_measured_is_flat_up_to_a_million_events(name: str) -> None:
    kept = scale.load()
    points = kept.points(name)
    assert points[-1][0] == 1_000_000
    beyond = [value for size, value in points if size > 10_000]
    assert beyond[-1] <= 1.5 * beyond[0]
    assert kept.growth(name) <= 1.5
