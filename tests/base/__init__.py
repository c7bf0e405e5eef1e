"""Tests of reading within limits."""
