"""Exports of many architectures by several exporters, compiled and compared with ONNX Runtime.

    python -m bench.exports --to FOLDER [NAME ..] [--forty] [--export | --check] [--seconds 1]

`rows.py` says what a row of the table is; `vision.py`, `language.py`, `several.py` and `others.py`
are the table; `export.py` writes the files; `check.py` compiles and compares one of them.
"""
