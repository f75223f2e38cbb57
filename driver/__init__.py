"""From a model to something that runs: compiling, the cache, artifacts."""
