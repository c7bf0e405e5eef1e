"""Tests of ``workloads/batsim``."""
