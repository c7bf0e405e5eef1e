"""One suite for all engines where they agree, and one per engine."""
