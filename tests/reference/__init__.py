"""Plain versions of compiled code, used only by tests."""
