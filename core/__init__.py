"""The engine: no screen, no clock, no network."""

__version__ = "0.1.0"
