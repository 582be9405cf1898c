"""Cards of the governance screen."""
