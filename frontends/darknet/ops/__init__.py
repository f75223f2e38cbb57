"""The sections of Darknet, by what they do."""
