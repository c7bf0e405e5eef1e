"""A minimal stand-in for pybatsim 4, which is on no package index: only the parts that our adapter uses."""
