"""Reads what came out: tables, metrics, comparisons, plots, reports. Knows files only, none of our other folders."""
