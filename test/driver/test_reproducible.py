"""The same model gives the same code in every process."""

import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import parser

MODEL = """
<ir_version: 9, opset_import: ["" : 20]>
net (float[batch, length, 64] x, float[batch, heads, length, 16] q) => (float[a, b, c] y, float[d, e, f, g] z)
<float[64, 96] w = {}>
{
    turned = Transpose <perm = [1, 0, 2]> (x)
    product = MatMul (turned, w)
    shape = Shape (x)
    back = Transpose <perm = [1, 0, 2]> (product)
    joined = Concat <axis = 1> (back, back)
    y = Relu (joined)
    keys = Transpose <perm = [0, 1, 3, 2]> (q)
    scores = MatMul (q, keys)
    z = Softmax <axis = -1> (scores)
}
"""


def stages(path: Path, folder: Path, seed: str) -> dict[str, bytes]:
    command = [sys.executable, "-m", "nnc.tools.nnc", "stages", str(path), "-q", "-o", str(folder)]
    environment = os.environ | {"PYTHONHASHSEED": seed}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return {file.name: file.read_bytes() for file in folder.glob("*.mlir")}


@pytest.mark.thorough
def test_open_shapes_give_the_same_code_in_each_process(tmp_path):
    numbers = ", ".join(str(i % 7) for i in range(64 * 96))
    model = parser.parse_model(MODEL.replace("{}", f"{{{numbers}}}"))
    onnx.save(model, tmp_path / "net.onnx")
    first, second = (stages(tmp_path / "net.onnx", tmp_path / seed, seed) for seed in "12")
    assert len(first) == 8
    assert first == second
