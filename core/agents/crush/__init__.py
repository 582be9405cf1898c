"""Crush, and the older OpenCode written in Go, which keeps the same tables."""
