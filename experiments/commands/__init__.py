"""Subcommands of ``spillway``, one module each; :mod:`experiments.cli` has the table."""
