"""Inputs of a campaign: sources of jobs, machines, and the files that are made of them."""
