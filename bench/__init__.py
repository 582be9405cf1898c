"""Figures: each measured beside a yardstick in the same run."""
