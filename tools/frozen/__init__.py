"""Digests of some 300 small runs: whether a change of the program moved a schedule or a message.

``table.csv`` has a row for each run: its recipe (:mod:`tools.frozen.recipe`), the digest of its ``jobs.csv``, and the
digest of the messages between a scheduler and a simulator in processes of their own. Recipes name nothing but options
of the commands ``run``, ``serve`` and ``simulate`` (and arguments of the learners' environment), and worlds that this
package draws itself: the inside of the program can change without a change here.

``python -m tools.frozen check [PATTERN]`` plays the runs again; ``record`` writes the table.
"""
