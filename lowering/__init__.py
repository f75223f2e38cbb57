"""The lowerings between levels of the IR, and the pipelines that chain them."""
