"""Canvas, bars, styles and formatting: knows no session."""
