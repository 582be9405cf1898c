"""A sentence of ours behind a tool's output: told apart in every form that agents give it."""

from __future__ import annotations

import pytest

from core.agents.calls import split_advice

SAID = "[nooscope] Seen from outside: a < b failed 4 times."


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (f"\n\n{SAID}", SAID),
        (f"\n\n{SAID}\n", SAID),
        (f"\n\n<hook_context>{SAID}</hook_context>", SAID),
        (f'\n\nTool "bash" succeeded. Additional guidance from postToolUse hooks:\n{SAID}', SAID),
        ("", ""),
        (f"\n{SAID}", ""),
        (f"\n\n{SAID}\nmore output", ""),
        (f"\n\n[nooscope] {'x' * 500}", ""),
    ],
)
def test_it_is_taken_off_and_the_output_stays(behind: str, said: str) -> None:
    output = "python3: no such file\n<shellId: 4 completed with exit code 2>"
    assert split_advice(output + behind) == ((output, said) if said else (output + behind, ""))
