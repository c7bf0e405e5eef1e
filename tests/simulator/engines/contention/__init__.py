"""Tests of the contention model."""
