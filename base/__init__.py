"""Foundations of all folders: file input and output, limits, errors, options, plug-ins."""
