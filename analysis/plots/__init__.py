"""Figures, one function per file. Each draws into ``ax`` where one is given, and returns the axes it drew into."""
