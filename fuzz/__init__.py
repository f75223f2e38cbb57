"""The fuzzer: makes texts, pipelines and models, and looks for what no input may cause."""
