"""Antigravity."""
