"""Logs of batch systems in many forms, read as a stream into one table of jobs."""
