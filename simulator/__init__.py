"""Batsim's part in the conversation: jobs run on a simulated platform, a scheduler decides.

In process: :class:`simulator.broker.Simulation`; as a program with Batsim 4's options: ``python -m simulator``.
"""
