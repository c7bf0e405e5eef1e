"""Jobs in the simulator: their profiles, and how they run from start to end."""
