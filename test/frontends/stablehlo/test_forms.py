"""The forms that StableHLO comes in, names, open shapes, complex numbers, and broken text."""

import contextlib
import random

import nnc
import numpy as np
import pytest

from .cases import archive, arrays, names, text

OPEN = """
module @jit_f {
  func.func public @main(%arg0: tensor<?x4xf32>) -> (tensor<?x4xf32> {jax.result_info = "['y']"}) {
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = call @inner(%0, %arg0) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
  func.func private @inner(%arg0: tensor<i32>, %arg1: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %c = stablehlo.constant dense<4> : tensor<1xi32>
    %1 = stablehlo.concatenate %0, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.dynamic_broadcast_in_dim %cst, %1, dims = [] : \
(tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %3 = stablehlo.multiply %arg1, %2 : tensor<?x4xf32>
    return %3 : tensor<?x4xf32>
  }
}
"""


def test_open_shapes_and_names():
    model = nnc.compile(OPEN.encode(), cache=False)
    for rows in (1, 5):
        x = np.random.default_rng(rows).standard_normal((rows, 4)).astype(np.float32)
        found = model.run({"arg0": x})
        assert list(found) == ["['y']"]
        np.testing.assert_array_equal(found["['y']"], 2 * x)


def test_file_is_found_by_what_is_in_it(tmp_path):
    path = tmp_path / "jax.mlir"
    path.write_text(text("matmul"))
    (x, y), (want,) = arrays("matmul")
    np.testing.assert_allclose(nnc.compile(str(path))(x, y), want, rtol=1e-5, atol=1e-5)


def test_shapes_may_be_given(tmp_path):
    path = tmp_path / "jax.mlir"
    path.write_text(OPEN)
    main = nnc.load(str(path), shapes={"arg0": [3, 4]}).body_block.ops[0]
    assert str(main.function_type) == "(tensor<3x4xf32>) -> tensor<3x4xf32>"


class Lowered:
    """Stands for an object of JAX, which is known by where its class comes from."""

    __module__ = "jax._src.stages"

    def as_text(self):
        """The module."""
        return text("transpose")


def test_object_of_jax():
    (x,), (want,) = arrays("transpose")
    np.testing.assert_array_equal(nnc.compile(Lowered(), cache=False)(x), want)


class Exported:
    """Stands for what `jax.export.export` gives."""

    __module__ = "jax._src.export._export"
    platforms = ("cpu",)
    mlir_module_serialized = archive("bytecode-0.10.0")["add_at.bc"]

    def mlir_module(self):
        """The text is not asked for."""
        raise AssertionError


class Operations:
    """Stands for the module that JAX has in memory."""

    def write_bytecode(self, out):
        """As MLIR's operations do."""
        out.write(Exported.mlir_module_serialized)

    operation = property(lambda self: self)


class LoweredNow(Lowered):
    """Stands for a lowered function of JAX as it is today."""

    __module__ = "jax._src.stages"

    def compiler_ir(self, dialect):
        """The module in memory."""
        assert dialect == "stablehlo"
        return Operations()


@pytest.mark.parametrize("made", [Exported, LoweredNow])
def test_objects_of_jax_give_bytecode(made):
    inputs, (want,) = arrays("add_at")
    np.testing.assert_allclose(nnc.compile(made(), cache=False)(*inputs), want, rtol=1e-6)


def test_functions_of_jax():
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    params = {"w": np.ones((3, 4), np.float32), "b": np.arange(4, dtype=np.float32)}
    x = np.ones((2, 3), np.float32)
    model = nnc.compile(
        lambda params, x, unused: {"y": jnp.tanh(x @ params["w"]) + params["b"]},
        inputs=(params, x, x),
        cache=False,
    )
    assert model.input_names == ["params['b']", "params['w']", "x", "unused"]
    want = np.tanh(x @ params["w"]) + params["b"]
    np.testing.assert_allclose(model(params["b"], params["w"], x, x), want, rtol=1e-6)


def test_missing_operators_are_listed_with_their_places():
    body = OPEN.replace("multiply %arg1, %2", "power %arg1, %2").replace("public @main", "@main")
    made = body.replace("stablehlo.power %arg1, %2 : ", "stablehlo.custom_call @mine(%arg1) : ")
    made = made.replace(
        "(%arg1) : tensor<?x4xf32>", "(%arg1) : (tensor<?x4xf32>) -> tensor<?x4xf32>"
    )
    with pytest.raises(nnc.NncError, match=r"a layer is not supported:\n .*custom_call @mine"):
        nnc.load(made.encode())


def test_recursion_is_an_error():
    with pytest.raises(nnc.NncError, match="calls itself"):
        nnc.load(
            OPEN.replace("%3 = stablehlo.multiply %arg1, %2", "%3 = call @inner(%arg0, %arg1)")
            .replace(
                "%arg1) : tensor<?x4xf32>",
                "%arg1) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x4xf32>",
            )
            .encode()
        )


@pytest.mark.parametrize("seed", range(8))
def test_mutated_text_is_an_error_or_a_model(seed):
    rng = random.Random(seed)
    for name in rng.sample(names(), 12):
        given = text(name)
        at = rng.randrange(len(given))
        match rng.randrange(4):
            case 0:
                given = given[:at]
            case 1:
                given = given[:at] + rng.choice('%@#<>[]{}(),:x0-9\0"') + given[at + 1 :]
            case 2:
                end = min(len(given), at + rng.randrange(40))
                given = given[:at] + given[end:]
            case 3:
                lines = given.split("\n")
                lines[rng.randrange(len(lines))] = rng.choice(lines)
                given = "\n".join(lines)
        with contextlib.suppress(nnc.NncError):
            nnc.load(given.encode("utf-8", "surrogateescape"))


def test_complex_expm1_keeps_the_digits_near_0():
    source = """
module @jit_f {
  func.func public @main(%x: tensor<6xcomplex<f32>>) -> tensor<6xcomplex<f32>> {
    %y = stablehlo.exponential_minus_one %x : tensor<6xcomplex<f32>>
    return %y : tensor<6xcomplex<f32>>
  }
}
"""
    x = np.array([0, 1e-6 + 1e-7j, 1e-4j, -3 + 2j, 2.5 - 7j, 1], np.complex64)
    pairs = np.stack([x.real, x.imag], -1)
    wanted = np.expm1(x.astype(np.complex128))
    model = nnc.compile(source.encode(), cache=False)
    for given in (x, pairs):
        found = model(given)
        assert found.dtype == np.complex64
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
