"""Panels of the fleet screen."""
