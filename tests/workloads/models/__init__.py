"""Tests of ``workloads/models``."""
