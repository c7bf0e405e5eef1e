"""Wrong command lines, each with its one line: ``docs/mistakes.md`` is written and verified from here."""
