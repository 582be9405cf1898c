"""Kimi."""
