"""Tests of ``workloads/requests``."""
