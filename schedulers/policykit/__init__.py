"""Imports for authors of policies: view, orders, passes, plans. Pure functions and data."""
