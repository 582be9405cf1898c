"""The deterministic model of an agent: no clock, randomness, files or network."""
