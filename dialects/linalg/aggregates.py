"""Ops that stand for several structured ops: softmax and the transforms of Winograd."""

from __future__ import annotations

from ...ir.types import Dim
from ..memref.layouts import compatible
from ..vocabulary import *
from .structured import AnyShaped


class Softmax(Op, name="linalg.softmax", traits=(WritesMemory,)):
    """exp(x - max) / sum(exp(x - max)), with the maximum and the sum along `dimension`.

    The result is written to the output, which is not read.
    """

    input: Operand = operand(AnyShaped)
    output: Operand = operand(AnyShaped)
    dimension = attribute(I64)
    out: OptionalResult = optional_result(AnyType)

    format = (
        "attr-dict `dimension` `(` $dimension `)` `ins` `(` $input `:` type($input) `)` "
        "`outs` `(` $output `:` type($output) `)` (`->` type($out)^)?"
    )
    example = "linalg.softmax dimension(1) ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>)"

    @classmethod
    def infer_result_types(cls, operand_types: Any, properties: Any, regions: Any = ()):
        """The output's type if it is a tensor."""
        return [t for t in operand_types[-1:] if isinstance(t, TensorType)]

    def verify_op(self) -> None:
        source, target = self.input.type, self.output.type
        if source.element_type is not target.element_type:
            raise self.error("failed to verify that input and output have same element type")
        if len(source.shape) != len(target.shape) or not all(
            compatible(a, b) for a, b in zip(source.shape, target.shape, strict=True)
        ):
            raise self.error("incompatible output shape")
        if not 0 <= self.dimension < len(source.shape):
            raise self.error("incorrect dimension specified")
        expected = [target] if isinstance(target, TensorType) else []
        if [v.type for v in self.results] != expected:
            raise self.error(f"expected {len(expected)} results of the output's type")

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        source, target = operands
        wide = source.astype(np.promote_types(source.dtype, np.float32))
        powers = np.exp(wide - wide.max(axis=self.dimension, keepdims=True))
        found = powers / powers.sum(axis=self.dimension, keepdims=True)
        if self.results:
            return [found.astype(target.dtype)]
        target[...] = found
        return []


_FMR = {"F_2_3": 0, "F_4_3": 1, "F_2_5": 2}


def tensor_of_rank(rank: int) -> Constraint:
    """The constraint to tensors of this rank."""
    return Constraint(
        f"{rank}D tensor of any type values",
        lambda t: isinstance(t, TensorType) and t.rank == rank,
    )


_FORMAT = (
    "attr-dict `fmr` `(` $fmr `)` `ins` `(` ${0} `:` type(${0}) `)` "
    "`outs` `(` $output `:` type($output) `)` `->` type($out)"
)


class _WinogradTransform(Op, traits=(Pure,)):
    """Base of the transforms of F(m x m, r x r): tiles of m x m results, filters of r x r.

    `fmr` is "F_m_r". In the shapes, alpha is m + r - 1.
    """

    output: Any
    out: Any

    fmr = attribute(int_enum("winograd F(m, r)", _FMR, i32))

    @property
    def sizes(self) -> tuple[int, int]:
        """m, the extent of a tile of results, and r, the extent of the filter."""
        _, m, r = self.fmr.split("_")
        return int(m), int(r)

    def expect(self, wanted: list[Dim]) -> None:
        """Check that the output has the wanted extents, and the result the output's type.

        Unknown extents agree with any.
        """
        if self.output.type is not self.out.type:
            raise self.error(
                f"expected type of operand #1 ('{self.output.type}') to match type of "
                f"corresponding result ('{self.out.type}')"
            )
        shape = self.output.type.shape
        for found, extent in zip(shape, wanted, strict=True):
            if not compatible(found, extent):
                raise self.error("the output shape is not expected")

    def check_elements(self, source: Value, target: Value, name: str) -> None:
        """Check that both values have the same element type."""
        if source.type.element_type is not target.type.element_type:
            raise self.error(
                f"failed to verify that all of {{{name}, output}} have same element type"
            )


class WinogradFilterTransform(_WinogradTransform, name="linalg.winograd_filter_transform"):
    """G g G^T of each filter g: [F, H, W, C] -> [alpha H, alpha W, C, F]."""

    filter: Operand = operand(tensor_of_rank(4))
    output: Operand = operand(tensor_of_rank(4))
    out: Result = result(tensor_of_rank(4))

    format = _FORMAT.format("filter")
    example = (
        "%0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xf32>) "
        "outs(%b : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>"
    )

    def verify_op(self) -> None:
        m, r = self.sizes
        self.check_elements(self.filter, self.output, "filter")
        f, h, w, c = self.filter.type.shape
        for extent, word in ((h, "height"), (w, "width")):
            if extent not in (None, 1, r):
                raise self.error(f"expect filter {word} either equals to r or 1")
        alpha: list[Dim] = [n if n in (None, 1) else m + r - 1 for n in (h, w)]
        self.expect([*alpha, c, f])


class WinogradInputTransform(_WinogradTransform, name="linalg.winograd_input_transform"):
    """B^T d B of each tile d: [N, H, W, C] -> [alpha H, alpha W, tiles H, tiles W, N, C]."""

    input: Operand = operand(tensor_of_rank(4))
    output: Operand = operand(tensor_of_rank(6))
    out: Result = result(tensor_of_rank(6))

    format = _FORMAT.format("input")
    example = (
        "%0 = linalg.winograd_input_transform fmr(F_4_3) ins(%a : tensor<2x10x10x5xf32>) "
        "outs(%b : tensor<6x6x2x2x2x5xf32>) -> tensor<6x6x2x2x2x5xf32>"
    )

    def verify_op(self) -> None:
        m, r = self.sizes
        self.check_elements(self.input, self.output, "input")
        n, h, w, c = self.input.type.shape
        shape = self.output.type.shape
        wanted: list[Dim] = []
        for d, extent in enumerate((h, w)):
            flat = shape[d] == 1
            if extent is None or flat:
                wanted.append(extent)
                continue
            wanted.append((extent - r + 1) // m)
        alpha: list[Dim] = [1 if shape[d] == 1 else m + r - 1 for d in (0, 1)]
        self.expect([*alpha, *wanted, n, c])


class WinogradOutputTransform(_WinogradTransform, name="linalg.winograd_output_transform"):
    """A^T y A of each tile y: [alpha H, alpha W, tiles H, tiles W, N, F] -> [N, H, W, F]."""

    value: Operand = operand(tensor_of_rank(6))
    output: Operand = operand(tensor_of_rank(4))
    out: Result = result(tensor_of_rank(4))

    format = _FORMAT.format("value")
    example = (
        "%0 = linalg.winograd_output_transform fmr(F_4_3) ins(%a : tensor<6x6x2x2x3x5xf32>) "
        "outs(%b : tensor<3x8x8x5xf32>) -> tensor<3x8x8x5xf32>"
    )

    def verify_op(self) -> None:
        m, r = self.sizes
        self.check_elements(self.value, self.output, "value")
        shape = self.value.type.shape
        for d, word in ((0, "height"), (1, "width")):
            if shape[d] not in (None, 1, m + r - 1):
                raise self.error(f"expect input {word} equals to input tile size")
        sizes: list[Dim] = [
            None if None in (a, t) else (1 if a == 1 else m) * t
            for a, t in ((shape[0], shape[2]), (shape[1], shape[3]))
        ]
        self.expect([shape[4], *sizes, shape[5]])
