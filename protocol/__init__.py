"""Neutral messages and the codecs of the wire formats."""
