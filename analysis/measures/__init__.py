"""Figures of runs, and comparisons of runs."""
