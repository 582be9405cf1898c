"""One reader an agent, and the list of them all."""
