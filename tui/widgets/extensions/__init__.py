"""What is installed beside nooscope, and how it does."""
