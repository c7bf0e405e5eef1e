"""Tests of the package ``platforms``."""
