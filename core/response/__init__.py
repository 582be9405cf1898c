"""The response: from a firing to the right word at the right time."""

from __future__ import annotations

from core.response.actions import CheckpointRequest
from core.response.interventions import Intervention, ToldIntervention
from core.response.learned import Learned, learn
from core.response.loops import Loop
from core.response.reaction import QUIET, Firing, Notice, Reaction, ResponseReading
from core.response.response import Response
from core.response.rules import RuleSet, add_rules, built_in
from core.response.scoring import Candidate
from core.response.tally import SessionTally

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
    "ToldIntervention",
    "Loop",
    "RuleSet",
    "add_rules",
    "built_in",
    "Learned",
    "learn",
    "SessionTally",
]
