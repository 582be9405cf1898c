"""Shell completion, made from the parsers themselves."""
