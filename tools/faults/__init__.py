"""What a cluster does to a campaign: damaged files, failing disks, killed processes; ``python -m tests.faults``."""
