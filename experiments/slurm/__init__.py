"""A real Slurm with burst buffers, in namespaces of its own, and the same submissions in the simulator.

Parts: :mod:`~spillway.experiments.slurm.packages` gets the programs,
:mod:`~spillway.experiments.slurm.configuration` writes their files, :mod:`~spillway.experiments.slurm.inside` runs
them in the namespaces that :mod:`~spillway.experiments.slurm.live` makes,
:mod:`~spillway.experiments.slurm.recording` reads their logs, :mod:`~spillway.experiments.slurm.replay` plays the same
submissions, and :mod:`~spillway.experiments.slurm.deviations` compares.
"""
