"""The calls of ``import spillway``: logs, comparisons and what-if questions from a script, a notebook or a test.

Each call uses the same code as the commands, so that a comparison made here writes the same folder as ``spillway run``
with the same options, and is repeated by the same command.
"""
