"""By what the logs of OpenHands are recognised."""

from __future__ import annotations

import re

from core.logs.format import Sample


def is_list(sample: Sample) -> int:
    """One list of actions and observations."""
    head = sample.head.lstrip()
    told = b'"source"' in head or b'"cause"' in head or b'"args"' in head
    if not head.startswith(b"[") or not told or b'"role"' in head[:200]:
        return 0
    return 90 if b'"observation"' in head or b'"action"' in head else 0


def is_evaluation(sample: Sample) -> int:
    """A run a line, its events in a history."""
    head = sample.head.lstrip()
    if not head.startswith(b"{") or b'"trajectory"' in head[:4096]:
        return 0
    named = b'"git_patch"' in head or b'"test_result"' in head or b'"instruction"' in head
    if not named or b'"history"' not in head:
        return 0
    return 88 if b'"action"' in head or b'"observation"' in head else 40


def is_event_folder(sample: Sample) -> int:
    """An event a file."""
    head = sample.head.lstrip()
    if not head.startswith(b"{") or not re.search(
        rb'"kind"\s*:\s*"\w*(?:Event|Condensation|Observation)', head
    ):
        return 0
    return 88 if b'"timestamp"' in head and b'"source"' in head else 0


def is_stream(sample: Sample) -> int:
    """The same events as lines of one file."""
    lines = sum(1 for record in sample.records[:4] if isinstance(record.get("kind"), str))
    return is_event_folder(sample) and (89 if lines > 1 or sample.path.suffix == ".jsonl" else 0)
