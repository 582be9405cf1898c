"""A turn that only ends is no answer: it is neither counted nor priced."""

from __future__ import annotations

import pytest

from core.events import Turn, Where
from core.report.cost import charge_of


@pytest.mark.parametrize(
    ("turn", "ends"),
    [
        (Turn(at=1.0, cost=0.0, stop="end_turn"), True),
        (Turn(at=1.0, cost=None), False),
        (Turn(at=1.0, cost=0.0, output_tokens=1), False),
        (Turn(at=1.0, cost=0.0, context_tokens=1), False),
        (Turn(at=1.0, cost=0.0, said=Where("log")), False),
        (Turn(at=1.0, cost=0.1), False),
    ],
)
def test_what_only_ends_is_no_answer(turn: Turn, ends: bool) -> None:
    assert turn.only_ends is ends
    assert charge_of(turn).priced == (turn.cost is not None and not ends)
