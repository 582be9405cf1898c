"""Live sessions: the driver, its status, its carry-over and its notices."""
