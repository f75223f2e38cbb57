"""Writes the files beside this script's folder `files`: run by a Python that has MXNet 1.9.1.

pip install numpy==1.23.5 && pip install --no-deps mxnet==1.9.1 && python make.py && python make.py recurrence && python make.py control && python make.py detectors && python make.py integers && python make.py numpy && python make.py corners
"""

import json
from pathlib import Path

import numpy as np
from make_elements import elements, indices, matrices, shapes
from make_layers import convolutions, detectors, images, normalizations, poolings, recurrence
from make_others import control, corners, deep, integers, numpy
from maker import CASES, PART, evaluated

FILES = Path(__file__).parent / "files"


def write_cases():
    makers = [convolutions, poolings, normalizations, elements, shapes, indices, matrices, images]
    parts = {"recurrence": [recurrence], "control": [control], "detectors": [detectors]}
    parts |= {"integers": [integers], "numpy": [numpy], "corners": [corners]}
    for make in parts.get(PART, [*makers, deep]):
        make()
    symbols, arrays = {}, {}
    for name, symbol, inputs in CASES:
        outputs = evaluated(name, symbol, inputs)
        symbols[name] = json.loads(symbol.tojson())
        arrays.update({f"{name}/in/{k}": v for k, v in inputs.items()})
        arrays.update({f"{name}/out/{i}": y for i, y in enumerate(outputs)})
        for label, y in zip(symbol.list_outputs(), outputs):
            if not np.isfinite(y.astype("f8")).all():
                print("not finite", name, label)
    text = json.dumps(symbols, separators=(",", ":"))
    (FILES / f"{PART}.json").write_text(text)
    np.savez_compressed(FILES / f"{PART}.npz", **arrays)


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    write_cases()
