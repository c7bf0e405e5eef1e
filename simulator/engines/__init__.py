"""Engines that simulate the machine: tasks, hosts, links and a clock; see :class:`spillway.core.Engine`."""
