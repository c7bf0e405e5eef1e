"""Tests of the malleability experiment."""
