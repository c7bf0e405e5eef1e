"""Batsim 5 on the wire."""
