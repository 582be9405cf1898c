"""Cline, Roo Code and Kilo."""
