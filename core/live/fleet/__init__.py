"""All sessions of this machine, followed by one thread and shown as rows."""
