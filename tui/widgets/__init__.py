"""Panels and other widgets."""
