"""Neutral messages and the codecs that know a wire format."""
