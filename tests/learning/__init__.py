"""The environment for learners."""
