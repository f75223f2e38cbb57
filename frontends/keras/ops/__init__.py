"""The layers and operations, by what they do."""
