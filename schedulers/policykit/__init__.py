"""What the author of a policy imports: view, decisions, orders, passes, plans. Pure functions and data."""
