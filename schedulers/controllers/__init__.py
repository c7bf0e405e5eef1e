"""Controllers of running applications: they observe them and change their sizes, separately from the policy."""
