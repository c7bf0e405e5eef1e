"""Fuzzing of conversations: a fast random Batsim that keeps Batsim's books, with faults mixed in. See ``__main__``."""
