"""Tests of the second paper's evaluation."""
