"""Results in the folder of a campaign: kept, locked, checked, summed up, drawn."""
