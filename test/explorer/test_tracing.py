"""What a traced compilation says: the texts of `nnc stages`, the code, and which lines became which."""

import re
from pathlib import Path

import pytest
from nnc.driver.compile import load_module, run_stages, write_stages
from nnc.explorer.compilation import Compilation, compile_traced, first_lines, nodes_by_calls
from nnc.ir.diagnostics import NncError
from nnc.targets.attribute import target_of
from nnc.targets.llvm.ir import llvm_ir

TARGET = "x86-64-v3"
MODEL = """
func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = nn.sqrt %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = nn.div %a, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = nn.matmul %b, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("traced") / "model.mlir"
    found.write_text(MODEL)
    return found


@pytest.fixture(scope="module")
def traced(path: Path) -> Compilation:
    return compile_traced("model", load_module(path), target=TARGET)


def test_the_texts_are_those_of_stages(path: Path, traced: Compilation, tmp_path: Path) -> None:
    """Tracing changes no line, and so no code either."""
    (part,) = traced.parts
    files = write_stages(path, tmp_path / "stages", target=TARGET)
    assert [f.stem.split("-", 1)[1] for f in files] == [stage.name for stage in part.stages]
    for file, stage in zip(files, part.stages, strict=True):
        written = [line for line in file.read_text().splitlines() if not line.startswith("module")]
        assert [line for line in stage.lines if not line.startswith("module")] == written


def test_the_code_is_that_without_debug_locations(path: Path, traced: Compilation) -> None:
    module = load_module(path)
    run_stages(module, target=TARGET)
    plain = target_of(module).assembly_of(llvm_ir(module))

    def instructions(lines: list[str]) -> list[str]:
        return [line for line in lines if re.match(r"\s+[a-z]", line)]

    listing = traced.parts[0].listing
    assert listing is not None
    assert instructions(listing.lines) == instructions(plain.splitlines())


@pytest.mark.parametrize(
    ("instruction", "operation"),
    [("vsqrtps", "nn.sqrt"), ("vdivps", "nn.div"), ("vfmadd", "nn.matmul")],
)
def test_instructions_lead_to_their_operation_alone(
    traced: Compilation, instruction: str, operation: str
) -> None:
    (part,) = traced.parts
    listing, stages = part.listing, part.stages
    assert listing is not None
    wanted = {i for i, line in enumerate(stages[0].lines) if operation in line}
    found = [
        first_lines(stages, len(stages) - 1, origin)
        for line, origin in zip(listing.lines, listing.origins, strict=True)
        if line.lstrip().startswith(instruction) and origin is not None
    ]
    assert found, f"no {instruction} has an origin"
    assert all(one == wanted for one in found), found


def test_loops_lead_to_lines_of_their_schedule(traced: Compilation) -> None:
    stages = {stage.name: stage for stage in traced.parts[0].stages}
    schedule, loops = stages["schedule"], stages["loops"]
    found = 0
    for i, line in enumerate(loops.lines):
        if "scf.for" not in line and "scf.parallel" not in line:
            continue
        names = {schedule.lines[parent].split()[0] for parent in loops.parents[i]}
        found += any("schedule." in schedule.lines[parent] for parent in loops.parents[i])
        assert names, line
    assert found


def test_functions_stand_where_they_are_said_to(traced: Compilation) -> None:
    (part,) = traced.parts
    for stage in part.stages[2:]:
        for name in part.kernels:
            start, end = stage.functions[name]
            assert f"@{name}" in stage.lines[start]
            assert stage.lines[end - 1].strip() in ("}", "")


def test_nodes_have_the_kernels_that_compute_them(traced: Compilation) -> None:
    graph = traced.graph
    ops = {op: node for node in graph.nodes for op in node.ops}
    edges = {(graph.nodes[a].kind, graph.nodes[b].kind) for a, b in graph.edges}
    assert edges == {
        ("input", "sqrt"), ("sqrt", "div"), ("input", "div"), ("div", "matmul"),
        ("input", "matmul"), ("matmul", "output"),
    }  # fmt: skip
    assert set(ops) == {"nn.sqrt", "nn.div", "nn.matmul"}
    (part,) = traced.parts
    found = nodes_by_calls(graph, part.stages)
    assert set(found) == set(part.kernels)
    for name, nodes in found.items():
        assert {graph.nodes[node].kind for node in nodes} == {
            kind for kind in ("sqrt", "div", "matmul") if kind in name
        }, name


def test_an_error_on_the_way_has_the_models_place(tmp_path: Path) -> None:
    """Not the lines that tracing puts into locations."""
    (tmp_path / "bad.mlir").write_text("""
func.func @main(%x: memref<4xf32>) attributes {nn.entry, nn.input_names = ["x"], nn.output_names = []} {
  "foo.bar"(%x) : (memref<4xf32>) -> ()
  return
}""")
    with pytest.raises(NncError) as plain:
        run_stages(load_module(tmp_path / "bad.mlir"), target=TARGET)
    with pytest.raises(NncError) as found:
        compile_traced("bad", load_module(tmp_path / "bad.mlir"), target=TARGET)
    assert str(found.value.diagnostic) == str(plain.value.diagnostic)
    assert "\0" not in str(found.value.diagnostic)
