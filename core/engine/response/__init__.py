"""The response: from signals to the right sentence at the right time."""

from __future__ import annotations

from core.engine.response.actions import CheckpointRequest
from core.engine.response.interventions import Intervention, PastIntervention
from core.engine.response.learned import Learned, learn
from core.engine.response.loops import Loop
from core.engine.response.reaction import QUIET, Firing, Notice, Reaction, ResponseReading
from core.engine.response.response import Response
from core.engine.response.rules import RuleSet, add_rules, built_in
from core.engine.response.scoring import Candidate, SessionTally

__all__ = [
    "Response",
    "Reaction",
    "ResponseReading",
    "QUIET",
    "Firing",
    "Notice",
    "CheckpointRequest",
    "Candidate",
    "Intervention",
    "PastIntervention",
    "Loop",
    "RuleSet",
    "add_rules",
    "built_in",
    "Learned",
    "learn",
    "SessionTally",
]
