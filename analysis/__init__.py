"""Reads results: tables, metrics, comparisons, plots, reports. From files only, without the other folders."""
