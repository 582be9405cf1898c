"""Where stories are played: seeded chance, an invented project, and agents that work on it."""
