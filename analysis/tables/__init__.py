"""Files of results, read: jobs, transfers, drains, outages, campaigns; holdings and step functions over time."""
