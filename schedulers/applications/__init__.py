"""Malleable applications: their durations by number of nodes, and their description in a workload. Pure values."""
