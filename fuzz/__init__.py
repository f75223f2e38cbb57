"""The fuzzer: generates texts, pipelines and models, and looks for crashes, hangs and wrong
results.
"""
