"""Which module imports which: the graph, and the law that it obeys."""
