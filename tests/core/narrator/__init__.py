"""Prose from facts."""
