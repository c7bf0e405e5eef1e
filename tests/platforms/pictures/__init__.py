"""Tests of ``platforms/pictures``."""
