"""Wrong command lines, each with its one line: ``tests/data/mistakes.txt`` is written and verified from here."""
