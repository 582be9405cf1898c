"""Cards of the mind screen."""
