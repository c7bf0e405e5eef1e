"""Batsim's part in the conversation: jobs run on a simulated platform, a scheduler decides.

In process: :class:`spillway.simulator.wire.broker.Simulation`; as a program with Batsim 4's options: ``spillway
simulate``.
"""
