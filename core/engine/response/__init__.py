"""The response: from signals to the right sentence at the right time."""

from __future__ import annotations

from core.engine.response.learned import Learned as Learned, learn as learn
from core.engine.response.reaction import (
    QUIET as QUIET,
    Firing as Firing,
    Notice as Notice,
    Reaction as Reaction,
    ResponseReading as ResponseReading,
)
from core.engine.response.response import Response as Response
from core.engine.response.rules import RuleSet as RuleSet, add_rules as add_rules, built_in as built_in
from core.engine.response.scoring import SessionTally as SessionTally
