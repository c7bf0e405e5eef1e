"""Answers in words and tables: comparisons, findings, reasons for waits, what-if questions."""
