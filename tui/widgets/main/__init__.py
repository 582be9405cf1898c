"""Panels of the main screen."""
