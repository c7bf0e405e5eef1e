"""Engines that simulate the machine: tasks, hosts, links and a clock; see :mod:`spillway.simulator.engines.base`."""
