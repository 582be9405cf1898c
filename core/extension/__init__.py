"""Extensions: what they are, in which order they run, and how one takes part in the step of a mind."""

from core.extension.hooks import Answer, BranchRun, Extension, Fault, ToolCall
from core.extension.in_step import Detection, ExtendedEngine, StepExtension
from core.extension.registry import Registry

__all__ = [
    "Answer",
    "BranchRun",
    "ExtendedEngine",
    "Extension",
    "Fault",
    "Detection",
    "Registry",
    "StepExtension",
    "ToolCall",
]
