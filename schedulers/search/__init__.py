"""Optimisers without jobs: permutations, annealing, subset selection, packing."""
