"""Malleable applications: how long they take on how many nodes, and how a workload describes them. Pure values."""
