"""Lines come out the same however a file is cut, and nothing in it stops them."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.logs.lines import TOGETHER, Line, LineCutter, head, line_batches

if sys.version_info >= (3, 14):
    from compression.zstd import compress
else:
    from backports.zstd import compress


def read_lines(*given: Any, **named: Any) -> Iterator[Line]:
    for lines in line_batches(*given, **named):
        yield from lines


def cut(data: bytes, sizes: list[int], longest: int = 64) -> tuple[list[Line], list[tuple[int, str]]]:
    notes: list[tuple[int, str]] = []
    cutter = LineCutter(lambda line, reason: notes.append((line, reason)), longest)
    lines: list[Line] = []
    at = 0
    for size in sizes:
        lines += cutter.feed(data[at : at + size])
        at += size
    lines += cutter.feed(data[at:])
    assert cutter.position == len(data)
    last = cutter.rest()
    return ([*lines, last] if last is not None else lines), notes


PIECES = st.sampled_from(
    [b"\n", b"\r\n", b"\0", b"\0\0\0", b" ", b"{}", b'{"a":1}', b"x" * 63, b"y" * 65, b"\xef\xbb\xbf", b"[", b"\xff"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=30).map(b"".join), st.lists(st.integers(1, 40), max_size=30))
def test_any_cut_gives_the_same_lines(data: bytes, sizes: list[int]) -> None:
    whole = cut(data, [])
    assert cut(data, sizes) == whole
    for line in whole[0]:
        assert data[line.offset : line.offset + len(line.data)] == line.data
        assert line.number == data[: line.offset].count(b"\n") + 1
        assert line.data.strip(b"\0 \t\r") == line.data
        assert b"\n" not in line.data


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=30).map(b"".join), st.sampled_from([16, 64, 4096]))
def test_a_file_is_cut_like_its_bytes(data: bytes, size: int) -> None:
    notes: list[tuple[int, str]] = []
    with NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        lines = list(read_lines(Path(file.name), lambda line, reason: notes.append((line, reason)), 64, size))
    assert (lines, notes) == cut(data, [])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [16, 4096])
def test_only_whole_objects_can_be_passed_over(tmp_path: Path, packed: bool, size: int) -> None:
    data = b'{"a":1}\n  {"b":1} \r\n{"c":1}x\n[1]\n{"d"\n{"e":2}\n{"f":1}'
    path = tmp_path / "a.jsonl"
    path.write_bytes(compress(data) if packed else data)
    asked: list[bytes] = []

    def passes(record: bytes) -> bool:
        asked.append(record.rstrip(b"\n"))
        return b":1" in record

    lines = list(read_lines(path, _never, size=size, passes=passes))
    assert [line.data for line in lines] == [b'{"c":1}x', b"[1]", b'{"d"', b'{"e":2}']
    assert [line.number for line in lines] == [3, 4, 5, 6]
    assert asked == [b'{"a":1}', b'{"b":1}', b'{"e":2}', b'{"f":1}']


@pytest.mark.parametrize("last", [b'{"n":1', b"x" * 65])
def test_what_is_written_behind_an_unfinished_line_meanwhile_is_left(tmp_path: Path, last: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"[]\n" * 20 + last)
    notes: list[int] = []

    def grow(line: int) -> None:
        notes.append(line)
        with path.open("ab") as file:
            file.write(b'}\n{"n":2}\n')

    found = []
    for line in read_lines(path, lambda line, _: grow(line), 64, 16):
        found.append(line)
        if line.number == 21:
            grow(line.number)
    assert notes == [21]
    assert [line.data for line in found[:20]] == [b"[]"] * 20
    assert [line.data for line in found[20:]] == ([last] if len(last) <= 64 else [])


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be seen here")
def test_a_short_file_is_closed_before_its_first_line_is_given(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n{}\n")
    reading = read_lines(path, _never)
    next(reading)
    held = [link.resolve() for link in Path("/proc/self/fd").iterdir()]
    assert path.resolve() not in held
    assert len(list(reading)) == 1


def test_ends_blanks_marks_and_zeros() -> None:
    lines, notes = cut(b'\xef\xbb\xbf{"a":1}\r\n\r\n  \n\0\0{"b":2}\n\0\0\0\n{"c"', [])
    assert lines == [Line(b'{"a":1}', 3, 1), Line(b'{"b":2}', 19, 4), Line(b'{"c"', 31, 6)]
    assert notes == [(5, "only NUL bytes")]


def test_a_mark_behind_an_object_is_none() -> None:
    notes: list[tuple[int, str]] = []
    cutter = LineCutter(lambda number, reason: notes.append((number, reason)))
    cutter.feed(b"{}")
    assert cutter.whole() == Line(b"{}", 0, 1)
    assert cutter.feed(b"\xef\xbb\xbf{}\n") == [Line(b"\xef\xbb\xbf{}", 2, 1)]
    assert notes == []


@pytest.mark.parametrize("sizes", [[], [1] * 200, [64, 1], [70]])
def test_a_line_over_the_limit_is_counted_and_the_next_one_read(sizes: list[int]) -> None:
    lines, notes = cut(b"a" * 64 + b"\n" + b"b" * 65 + b"\n" + b"c\n" + b"d" * 100, sizes)
    assert [(line.data[:1], line.number) for line in lines] == [(b"a", 1), (b"c", 3)]
    assert notes == [(2, "line too long"), (4, "line too long")]


def test_a_packed_file_reads_like_a_plain_one(tmp_path: Path) -> None:
    data = b"".join(b'{"n":%d}\n' % number for number in range(1000))
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.zst"
    plain.write_bytes(data)
    packed.write_bytes(compress(data))
    assert list(read_lines(packed, _never)) == list(read_lines(plain, _never))
    assert head(packed, 10) == head(plain, 10) == data[:10]


def test_a_damaged_archive_gives_what_stands_before_the_damage(tmp_path: Path) -> None:
    data = b"".join(b'{"n":%d}\n' % (number * number) for number in range(100_000))
    packed = tmp_path / "a.zst"
    packed.write_bytes(compress(data)[:-200])
    lines: list[Line] = []
    with pytest.raises(OSError, match="damaged archive"):
        lines.extend(read_lines(packed, _never))
    assert len(lines) > 10_000
    assert lines[5].data == b'{"n":25}'


def test_a_fault_is_noted_between_the_lines_around_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n{}\n\0\0\n{}\n" + b"x" * 65 + b"\n{}\n")
    happened: list[object] = []
    for lines in line_batches(path, lambda line, reason: happened.append((line, reason)), 64):
        happened.extend(line.number for line in lines)
    assert happened == [1, 2, (3, "only NUL bytes"), 4, (5, "line too long"), 6]


def test_lines_come_together_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = b'{"text":"%s"}\n' % (b"z" * 1000)
    path.write_bytes(line * 1000)
    sizes = [len(lines) * len(line) for lines in line_batches(path, _never)]
    assert sum(sizes) == len(line) * 1000
    assert all(TOGETHER < size <= TOGETHER + len(line) for size in sizes[:-1])


def test_memory_stays_small_for_a_big_file(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    with path.open("wb") as file:
        for number in range(40_000):
            file.write(b'{"n":%d,"text":"%s"}\n' % (number, b"z" * 1000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_lines(path, _never)) == 40_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 40_000_000
    assert peak < 8_000_000


def test_an_endless_line_is_not_gathered(tmp_path: Path) -> None:
    path = tmp_path / "endless.jsonl"
    path.write_bytes(b"x" * 30_000_000 + b"\n{}\n")
    notes: list[tuple[int, str]] = []
    tracemalloc.start()
    try:
        lines = list(read_lines(path, lambda line, reason: notes.append((line, reason)), longest=1_000_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert lines == [Line(b"{}", 30_000_001, 2)]
    assert notes == [(1, "line too long")]
    assert peak < 8_000_000


def _never(line: int, reason: str) -> None:
    raise AssertionError(f"{line}: {reason}")
