"""The session and what it keeps: machine, jobs, ledger, cluster, guard. Knows no policy and no job model."""
