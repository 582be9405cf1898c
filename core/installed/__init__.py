"""What is installed beside nooscope itself: packages, and files in the person's own folder."""
