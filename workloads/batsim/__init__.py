"""Batsim's workloads: in memory, and as files of Batsim 4 and 5."""
