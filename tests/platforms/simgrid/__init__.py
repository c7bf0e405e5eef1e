"""Tests of ``platforms/simgrid``."""
