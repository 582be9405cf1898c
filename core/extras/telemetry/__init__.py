"""Telemetry in both directions: spans and metrics out, spans and log records in."""
