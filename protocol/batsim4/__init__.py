"""Batsim 4 on the wire."""
