"""One HTML file per campaign, which opens from disk without a network."""
