"""Trials of schedulers and simulators: checks of policies, conformance, the comparison with a real Batsim."""
