"""Comparisons with SimGrid itself and with what it gave."""
