"""Logs to events: find them, follow them, translate them."""
