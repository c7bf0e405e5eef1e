"""Fuzzing: random conversations with faults, small random worlds, strangers at the socket. See ``__main__``."""
