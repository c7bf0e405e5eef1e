"""A minimal stand-in for pybatsim 4, which is on no package index: what our adapter uses of it, and no more."""
