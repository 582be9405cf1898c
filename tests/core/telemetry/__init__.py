"""Telemetry out and in."""
