"""What the rooms hand each other and show: values that never change.

A class keyword such as `frozen` is lost where its module is compiled; its base keeps the option for it.
"""

from __future__ import annotations

from msgspec import Struct


class Value(Struct, frozen=True):
    """A value that never changes."""


class StepValue(Struct, frozen=True, gc=False):
    """One of those made for every event; it holds no circle, so Python's collector need not look at it."""
