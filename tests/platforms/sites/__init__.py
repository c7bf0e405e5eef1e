"""Tests of ``platforms/sites``."""
