"""Plain twins of compiled code: what only tests run."""
