"""From a model to running code: compilation, the cache, artifacts."""
