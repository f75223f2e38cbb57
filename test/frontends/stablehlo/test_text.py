"""The dialects' text: what JAX wrote comes back byte by byte, and from the generic form too."""

import subprocess
import sys

import nnc
import numpy as np
import pytest

from .cases import names, text

SAMPLE = 6


@pytest.mark.parametrize("part", range(SAMPLE))
def test_text_comes_back(part):
    for name in names()[part::SAMPLE]:
        assert str(nnc.parse(text(name))) == text(name).rstrip("\n"), name


@pytest.mark.parametrize("name", names()[::12])
def test_generic_form_means_the_same(name):
    from nnc.ir.syntax.printer import print_op

    generic = print_op(nnc.parse(text(name)), generic=True)
    assert '"stablehlo.' in generic or '"chlo.' in generic or '"func.func"' in generic
    assert str(nnc.parse(generic)) == text(name).rstrip("\n")


RAW = """
  input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [2, 1],
  kernel_input_feature_dimension = 3, kernel_output_feature_dimension = 2,
  kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0,
  output_feature_dimension = 4, output_spatial_dimensions = [1, 2]
"""


def test_convolution_by_positions():
    """As stablehlo's own tests write it; the lists are those that stablehlo-opt prints."""
    module = nnc.parse(f"module attributes {{a.a = #stablehlo.conv<raw {RAW}>}} {{}}")
    assert "#stablehlo.conv<[b, 1, 0, f]x[0, 1, o, i]->[b, 0, 1, ?, f]>" in str(module)


@pytest.mark.parametrize(
    "text, wanted",
    [
        (RAW.replace("[0, 1]", "[0, 3]"), "expected distinct dimensions"),
        (RAW.replace("= 4", "= 99999999999"), "expected distinct dimensions"),
        (RAW.replace("= 4", "= -1"), "expected distinct dimensions"),
        ("input_batch_dimension = 0", "missing required parameter: input_feature_dimension"),
    ],
)
def test_broken_convolutions_by_positions(text, wanted):
    with pytest.raises(nnc.NncError) as error:
        nnc.parse(f"module attributes {{a.a = #stablehlo.conv<raw {text}>}} {{}}")
    assert wanted in str(error.value)


def test_comma_after_the_last_parameter():
    """stablehlo's parser takes it; that of other dialects' attributes does not."""
    comma = "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],>"
    module = nnc.parse(f"module attributes {{a.a = {comma}}} {{}}")
    assert str(comma).replace(",>", ">") in str(module)
    with pytest.raises(nnc.NncError, match="expected a parameter after ','"):
        nnc.parse("module attributes {a.a = #llvm.loop_unroll<disable = true,>} {}")


REGIONS = """
func.func @f(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<?xf32>) -> tensor<?xf32>
  %r = stablehlo.while(%i = %s) : tensor<?xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %i : tensor<?xf32>
  }
  %o = "stablehlo.if"(%p) ({
    stablehlo.return %r : tensor<?xf32>
  }, {
    stablehlo.return %s : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %o : tensor<?xf32>
}
"""


@pytest.mark.parametrize(
    "right, wrong, wanted",
    [
        ("return %c : tensor<i1>", "return %a : tensor<f32>", "comparator must return a value of"),
        ("return %p : tensor<i1>", "return %i : tensor<?xf32>", "cond must return a value of type"),
        ("return %i : tensor<?xf32>", "return %p : tensor<i1>", "body must return a value of type"),
        ("return %r : tensor<?xf32>", "return %p : tensor<i1>", "branch must return a value of"),
        (
            "%b: tensor<f32>):",
            "%z: tensor<i8>):\n%b = stablehlo.negate %a : tensor<f32>",
            "#1 should",
        ),
    ],
)
def test_regions_return_what_is_expected(right, wrong, wanted):
    """StableHLO's verifier refuses each of these; unknown extents fit known ones."""
    nnc.parse(REGIONS)
    nnc.parse(REGIONS.replace("stablehlo.return %r : tensor<?xf32>", RESHAPED))
    with pytest.raises(nnc.NncError) as error:
        nnc.parse(REGIONS.replace(right, wrong, 1))
    assert wanted in str(error.value)


RESHAPED = """%t = stablehlo.reshape %p : (tensor<i1>) -> tensor<1xi1>
    %u = stablehlo.convert %t : (tensor<1xi1>) -> tensor<1xf32>
    stablehlo.return %u : tensor<1xf32>"""

MESHES = """
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
  sdy.mesh @one = <[], device_ids=[0]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> \
(tensor<8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg0 : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x", "y"}]> : tensor<8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{?}]> : tensor<8xf32>
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%2) {backend_config = "", \
has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xf32>) -> ()
    return %2 : tensor<8xf32>
  }
}
""".strip()
"""As JAX 0.10 writes them."""


def test_meshes_are_marks():
    """Text that says which devices have what comes back, and one device computes the whole."""
    assert str(nnc.parse(MESHES)) == MESHES
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    computed = nnc.compile(MESHES.encode(), cache=False)(x)
    np.testing.assert_allclose(computed, np.sin(x), rtol=1e-6)


@pytest.mark.parametrize(
    "line, wanted",
    [
        ('sdy.mesh @m = <["x"=2>', r":1:22: error: expected ']'"),
        ("sdy.mesh @m = 3", ":1:15: error: expected '<', found '3'"),
        ('"sdy.mesh"() {sym_name = "m", mesh = 3} : () -> ()', "mesh attribute"),
    ],
)
def test_broken_meshes(line, wanted):
    with pytest.raises(nnc.NncError) as error:
        nnc.parse(line)
    assert wanted in str(error.value)


FIRST = {
    "a directive": "stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>",
    "an implied terminator": "stablehlo.reduce(%x init: %c) applies stablehlo.add across "
    "dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>",
}


@pytest.mark.parametrize("what", FIRST)
def test_a_first_text_of_a_process(what):
    """What an op's format needs is found where no other op has needed it."""
    lines = [
        "func.func @f(%x: tensor<2xf32>, %c: tensor<f32>) {",
        f"  %y = {FIRST[what]}",
        "  return",
        "}",
    ]
    text = "\n".join(lines)
    program = f"from nnc.ir.syntax.parser import parse_module\nparse_module({text!r}).verify()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("count", [9, 16, 40])
def test_truth_values_in_bytes_and_in_bits(count):
    """JAX 0.10 writes a byte for each, older ones a bit."""
    mask = np.random.default_rng(count).random(count) > 0.5
    for data in (mask.astype(np.uint8), np.packbits(mask, bitorder="little")):
        text = f"""func.func @main() -> tensor<{count}xi1> {{
          %c = stablehlo.constant dense<"0x{data.tobytes().hex()}"> : tensor<{count}xi1>
          return %c : tensor<{count}xi1>
        }}"""
        assert np.array_equal(nnc.compile(text.encode(), cache=False)(), mask)


def test_tuples_in_tuples():
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %a = stablehlo.tuple %x : tuple<tensor<2xf32>>
      %b = stablehlo.tuple %x, %a : tuple<tensor<2xf32>, tuple<tensor<2xf32>>>
      %c = stablehlo.get_tuple_element %b[1] : (tuple<tensor<2xf32>, tuple<tensor<2xf32>>>) \
-> tuple<tensor<2xf32>>
      %d = stablehlo.get_tuple_element %c[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
      return %d : tensor<2xf32>
    }"""
    x = np.float32([1, 2])
    assert np.array_equal(nnc.compile(text.encode(), cache=False)(x), x)
