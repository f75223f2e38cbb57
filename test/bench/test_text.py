"""bench/text.py: the generated texts are what they say, and a measurement runs."""

import json
import subprocess
import sys

import pytest
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.printer import print_op
from nnc.passes.canonicalize import Canonicalize

from bench import text, text_workloads

from ..dialects.examples import through_mlir_opt


def count(module) -> int:
    return sum(1 for _ in module.walk())


@pytest.mark.mlir_opt
def test_upstream_ops_are_upstreams(mlir_opt: str) -> None:
    module = parse_module(text_workloads.upstream_ops(600))
    module.verify()
    assert abs(count(module) - 600) < 120
    printed = print_op(module)
    assert through_mlir_opt(mlir_opt, printed).strip() == printed


def test_every_kind_of_op_is_drawn() -> None:
    whole = text_workloads.upstream_ops(2000)
    assert whole == text_workloads.upstream_ops(2000)
    for name in ("memref.subview", "linalg.generic", "scf.for", "vector.fma", "memref.cast"):
        assert name in whole
    assert "memref.cast" not in text_workloads.upstream_ops(2000, skip=("memref_casts",))


def test_foldable_reduces_to_two_values() -> None:
    module = parse_module(text_workloads.foldable(400))
    assert count(module) == 403
    Canonicalize().run(module, PassContext())
    module.verify()
    assert count(module) == 4


@pytest.mark.parametrize("graph", [text_workloads.cnn(2), text_workloads.transformer(8, 16)])
def test_graphs_go_all_the_way_down(graph: str) -> None:
    stages = text.model_stages(graph)
    assert set(stages) == {"loops", "llvm"}
    for stage in stages.values():
        module = parse_module(stage)
        module.verify()
        again = print_op(module, generic=True)
        assert print_op(parse_module(again), generic=True) == again


@pytest.mark.sampled(3)
@pytest.mark.parametrize("task", ["generic", "custom", "rewrite", "memory", "scaling"])
def test_a_measurement(task: str, tmp_path) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(print_op(parse_module(text_workloads.foldable(50)), generic=task != "custom"))
    done = subprocess.run(
        [sys.executable, str(text.WORKER), "nnc", task, str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ops"] == 53
    if task in ("generic", "custom"):
        assert found["same"] and found["parse"] > 0
