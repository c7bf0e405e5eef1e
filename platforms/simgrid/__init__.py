"""SimGrid's platform files: read, routed, written."""
