"""Tests of ``platforms/description``."""
