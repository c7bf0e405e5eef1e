"""Files of sites: inventories, resource graphs, maps of storage nodes, measured runs."""
