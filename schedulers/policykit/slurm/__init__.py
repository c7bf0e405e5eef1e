"""Rules of Slurm in a pass: priorities, plans of nodes, preemption, parameters of its schedulers."""
