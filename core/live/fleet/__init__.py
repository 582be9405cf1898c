"""All sessions of this machine: followed by one thread, told in rows."""
