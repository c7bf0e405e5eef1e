"""Comparisons with SimGrid itself and with its published results."""
