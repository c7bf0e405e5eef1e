"""Programs for developers: benchmarks, fuzz and fault drivers. None of them is a test or part of the wheel."""
