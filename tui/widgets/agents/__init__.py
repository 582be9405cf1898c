"""The sub-agents of a session."""
