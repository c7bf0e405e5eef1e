"""Tests of the third paper's evaluation."""
