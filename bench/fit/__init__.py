"""Weights of the read-out and impulses of the emotion axes, fitted to runs whose end is known."""
