"""Attention, sleep, habituation, homeostasis, clock."""
