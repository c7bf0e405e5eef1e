"""Machines as described in TOML, and the platforms that are made of them."""
