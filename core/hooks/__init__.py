"""Hooks in agents' settings, and the server that answers their calls."""
