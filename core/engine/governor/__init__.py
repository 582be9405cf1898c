"""Bounded agency: how long an agent may run on its own, and why it would be stopped."""
