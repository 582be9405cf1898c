"""Widgets shared by the panels of all screens."""
