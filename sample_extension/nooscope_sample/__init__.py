"""A sample extension for nooscope: one small file for each thing an extension can be."""
