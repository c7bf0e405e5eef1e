"""Optimisers that are independent of jobs: permutations, hill climbing, subset selection, packing."""
