"""A real Slurm with burst buffers, in namespaces of its own, and the same submissions in the simulator.

Where things stand: :mod:`~experiments.slurm.packages` gets the programs, :mod:`~experiments.slurm.configuration` writes
their files, :mod:`~experiments.slurm.inside` runs them in the namespaces that :mod:`~experiments.slurm.live` makes,
:mod:`~experiments.slurm.recording` reads what they logged, :mod:`~experiments.slurm.replay` plays the same submissions,
and :mod:`~experiments.slurm.deviations` compares.
"""
