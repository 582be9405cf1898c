"""Parts that come with an extra of the installation, imported only when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any, Literal

from core.errors import MissingExtra

Extra = Literal["nats", "web", "batch"]


def needed(module: str, extra: Extra) -> Any:
    """The module, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as fault:
        if fault.name is None or fault.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingExtra(
            f"this needs {module.partition('.')[0]}, which is not installed; "
            f"run: pip install 'nooscope[{extra}]'"
        ) from None
