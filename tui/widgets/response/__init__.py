"""Cards of the response screen."""
