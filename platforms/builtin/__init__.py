"""Built-in descriptions, one TOML file each; :func:`spillway.platforms.catalogue.builtin_files` lists them."""
