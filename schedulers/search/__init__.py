"""Optimisers that know nothing of jobs: permutations, annealing, subset selection."""
