"""One run: its description, who plays it, what it records, and its folder."""
