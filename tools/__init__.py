"""Programs for developers: benchmarks, fuzz and fault drivers; they are neither tests nor part of the wheel."""
