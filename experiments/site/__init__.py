"""A site's own tables into its description, and what a description says in tables to be read."""
