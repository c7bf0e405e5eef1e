"""Contention of constant I/O streams in a tree of links: the model of Herbein et al. (HPDC 2016, section 4.4).

The engine that uses it is :class:`spillway.simulator.engines.waterfill.WaterfillEngine`.
"""
