"""The table of inner loops: loops are found in assembler text, and products reach the peak."""

import shutil
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from bench import mca

from ..conftest import skip_unless_ci

ASSEMBLY = """
product_0_parallel_0:
	mov	x8, xzr
.LBB0_1:
	ldr	q8, [x0]
	b.hs	.LBB0_3
	.p2align	4
.LBB0_2:
	ldr	q9, [x1], #16
	fmla	v0.4s, v8.4s, v9.s[1]
	fmul	v1.4s, v8.4s, v9.s[1]
	b.lo	.LBB0_2
	b	.LBB0_1
.LBB0_3:
	ret
other:
.LBB1_1:
	fmla	v0.4s, v8.4s, v9.4s
	fmls	v1.2d, v8.2d, v9.2d
	cbnz	x8, .LBB1_1
"""


def test_loops_of_one_block() -> None:
    first, second = mca.loops(ASSEMBLY, mca.FAMILIES["aarch64"])
    assert (first.function, first.multiply_adds, first.products) == (
        "product_0_parallel_0",
        1,
        (1, 1),
    )
    assert len(first.instructions) == 4
    assert (second.function, second.multiply_adds, second.products) == ("other", 2, (0, 2))


def product(path: Path, rows: int, columns: int, depth: int) -> Path:
    """A matrix product as an ONNX file, of two inputs."""
    shapes = {"a": (rows, depth), "b": (depth, columns), "c": (rows, columns)}
    a, b, c = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items())
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["c"])], "g", [a, b], [c])
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=10), path)
    return path


@pytest.mark.emulated
@pytest.mark.parametrize("target", ["cortex-a76", "neoverse-n1", "neoverse-v2", "neoverse-v1"])
@pytest.mark.parametrize("shape", [(64, 96, 128), (49, 512, 256), (128, 128, 64)])
def test_products_reach_the_peak(shape: tuple[int, int, int], target: str, tmp_path: Path) -> None:
    """By LLVM's model of the processor, from the first cache."""
    if not (shutil.which("llvm-mca-22") or shutil.which("llvm-mca")):
        skip_unless_ci("llvm-mca is not installed")
    (row,) = mca.rows(product(tmp_path / "product.onnx", *shape), target)
    assert 0.9 <= row.share <= 1.01
