"""The edges between levels, one file each, and the pipelines that chain them."""
