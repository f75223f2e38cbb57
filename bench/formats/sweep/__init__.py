"""Compares nnc with each framework on its operators and layers, in systematically chosen variants.

    python -m bench.formats.sweep run keras     # needs Keras; writes bench/results/sweep
    python -m bench.formats.sweep run onnx --subject 'Resize*' --strength 3
    python -m bench.formats.sweep table         # docs/sweep.md, of all results
    python -m bench.formats.sweep store keras   # a sample, for the tests

A file of this folder for each framework names its *subjects*: an operator or a layer, and for each
of its parameters the values to try. The sweep takes all pairs of values (`cases.py`), makes a model
file of each configuration with the framework, computes its outputs there, and compares nnc's
(`judge.py`).
"""
