"""Figures, one function per file. Each returns the axes it drew into.

Parameters of the same name mean the same in all: ``ax``, axes to draw into (a new figure by default); ``table``, a run;
``title``, the title, or the name of the values; ``begin_s`` and ``end_s``, the part of the simulated time to show.
"""
