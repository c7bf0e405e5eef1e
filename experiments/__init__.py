"""Repeats runs: campaigns, grids, worker processes, provenance, summaries."""
