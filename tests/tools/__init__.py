"""Bounded runs of the programs in tools."""
