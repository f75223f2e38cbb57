"""How the files of each format are known: `is_it` of a small module, loaded before any room is."""
