"""Tests of ``workloads/conversion``."""
