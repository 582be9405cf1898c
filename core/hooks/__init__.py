"""Puts our hooks into agents' settings, takes them out again, and says how they stand."""
