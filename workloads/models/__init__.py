"""Models that draw workloads, and fits of their parameters."""
