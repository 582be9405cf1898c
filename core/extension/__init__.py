"""Extensions: what they are, in which order they run, and how they take part in a step of the engine."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.extension.hooks import Answer, BranchRun, Extension, Fault, ToolCall
    from core.extension.in_step import Detection, ExtendedEngine, StepExtension
    from core.extension.registry import Registry

__all__ = [
    "Answer", "BranchRun", "ExtendedEngine", "Extension", "Fault", "Detection", "Registry", "StepExtension",
    "ToolCall",
]  # fmt: skip

_MODULES = ("hooks", "in_step", "registry")


# The names are loaded on first use: finding out what is installed must not load the engine.
def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    modules = (importlib.import_module(f"{__name__}.{module}") for module in _MODULES)
    return next(getattr(module, name) for module in modules if hasattr(module, name))
