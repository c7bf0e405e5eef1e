"""One suite for the common behaviour of all engines, and one per engine."""
