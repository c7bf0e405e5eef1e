"""One run: its description, its player, its records and its folder."""
