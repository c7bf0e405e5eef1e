"""Pages of the documentation, and the programs that write some of them."""
