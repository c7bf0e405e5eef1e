"""Hostile files: each is given to the commands that read its kind; all end with one line, in bounded time and memory.

``python -m tools.hostile`` makes the files, runs the commands in processes of their own and prints the table.
"""
