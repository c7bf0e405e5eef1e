"""Faults of a cluster during a campaign: damaged files, failing disks, killed processes; ``python -m tools.faults``."""
