"""One module a suite; each gives its figures."""
