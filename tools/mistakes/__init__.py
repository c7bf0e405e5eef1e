"""Wrong command lines at every door, each with its one line: ``docs/mistakes.md`` is written and verified from here."""
