"""A site's own tables into its description, and a description into tables to be read."""
