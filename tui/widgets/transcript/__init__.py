"""Panels of the transcript."""
