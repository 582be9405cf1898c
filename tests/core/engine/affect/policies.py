"""Random policies, for laws that must hold under any of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from core.engine.affect.fields import FIELDS
from core.engine.affect.policy import Policy, parse_policy
from core.settings.affect import AUTHORITIES, TRIGGERS, AffectSettings
from core.settings.group import walk_tunables

_GAINS = ("on_failure", "on_competing", "on_pressure", "on_novelty", "on_uncertainty", "on_success")


def _number(low: float, high: float) -> st.SearchStrategy[float]:
    return st.sampled_from((low, high)) | st.floats(low, high)


_FIELD: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "rest": _number(0.25, 0.75),
        "floor": _number(0.0, 0.25),
        "ceiling": _number(0.75, 1.0),
        "time_constant": _number(10, 14400),
        "slowest": _number(1, 20),
        "rate_limit": _number(0.005, 0.25),
        "triggers": st.lists(st.sampled_from(TRIGGERS), unique=True),
        "authority": st.lists(st.sampled_from(AUTHORITIES), unique=True),
        **{gain: _number(-0.2, 0.2) for gain in _GAINS},
    },
)

policies: st.SearchStrategy[Policy] = st.fixed_dictionaries(
    {},
    optional={
        "fields": st.dictionaries(st.sampled_from(FIELDS), _FIELD, max_size=4),
        "noise": st.fixed_dictionaries({"amplitude": _number(0.0, 0.05)}),
        "stability": st.fixed_dictionaries({"threshold": _number(0, 3), "damping": _number(0, 2)}),
        "quarantine": st.fixed_dictionaries({"enter": _number(0.045, 0.5), "window": _number(30, 600)}),
        "hysteresis": st.fixed_dictionaries({"positive": _number(0.05, 0.8)}),
    },
).map(lambda data: parse_policy(data, "drawn"))

BOUNDS = {entry.name: entry for entry in walk_tunables(AffectSettings)}
