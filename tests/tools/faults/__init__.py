"""Faults of a cluster in a campaign: damaged files, failing disks, killed processes; ``python -m tools.faults``."""
