"""The simulated machine: hosts and their states, sets of hosts, power and energy."""
