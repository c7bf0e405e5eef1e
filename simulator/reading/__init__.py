"""Input files of the simulator: workloads, external events, and the names in them."""
