"""Python's cyclic collector, kept from stopping the picture: what stays for good is not walked again."""

from __future__ import annotations

import gc

_YOUNG = 50_000
"""Objects made before the young ones are looked through; Python's own 700 costs an eighth of the start."""


def calm() -> None:
    """Look less often; to be called once, before much is imported."""
    gc.set_threshold(_YOUNG, 20, 50)


def settle() -> None:
    """Set aside all there is now: modules, screens, the session as read so far."""
    gc.freeze()


def stir() -> None:
    """Take back what was set aside, so that a session that is left can be given back."""
    gc.unfreeze()
