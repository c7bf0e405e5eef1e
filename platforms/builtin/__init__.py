"""Built-in descriptions, one TOML file each; :func:`platforms.catalogue.builtin_files` lists them."""
