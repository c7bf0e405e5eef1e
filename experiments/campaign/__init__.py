"""Many runs: grids, worker processes, results that are kept, summaries, what-if."""
