"""Workloads: logs in the Standard Workload Format, Batsim workload files, and the models that make one of the other.

``load_workload`` is the way in for programs, ``python -m workloads`` for people.
"""
