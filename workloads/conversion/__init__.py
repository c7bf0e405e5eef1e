"""From a log to a workload, and from a workload to another."""
