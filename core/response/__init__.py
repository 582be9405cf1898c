"""From a firing to the right word at the right time."""
