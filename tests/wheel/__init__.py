"""The wheel: its contents, and its use from an empty folder."""
