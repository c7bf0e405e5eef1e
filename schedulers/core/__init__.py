"""The session and what it keeps: machine, jobs, ledger, cluster, guard. Independent of policies and job models."""
