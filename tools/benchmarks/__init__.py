"""Figures of speed, as ratios in one run."""
