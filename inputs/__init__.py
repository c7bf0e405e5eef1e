"""Files from outside, read within limits. Knows nothing of what is in them; every other folder reads through it."""
