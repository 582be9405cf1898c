"""Panels of the tuning screen."""
