"""Optional parts of the installation, imported by nothing else in core and only when asked for."""

from __future__ import annotations

import importlib
from typing import Any, Literal

from core.errors import MissingExtra

Extra = Literal["nats", "web", "batch"]


def needed(module: str, extra: Extra) -> Any:
    """Import a module of an optional extra; the error says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as fault:
        if fault.name is None or fault.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtra(
            f"this needs {module.partition('.')[0]}, which is not installed; run: pip install 'nooscope[{extra}]'"
        ) from None
