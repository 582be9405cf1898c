"""Extensions: the registry, what is installed, the bus, and the sample at work."""
