"""The one driver that follows a session: its status, what it carries over, its notices."""
