"""The wheel: what is in it, and that it works from an empty folder."""
