"""The graph of imports, and the rules for it."""
