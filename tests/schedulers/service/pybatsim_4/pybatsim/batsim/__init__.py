"""Its core package."""
