"""Processes that play the runs of a campaign."""
