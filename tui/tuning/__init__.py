"""The tuning bench behind its screen: edits, what-ifs, saving."""
