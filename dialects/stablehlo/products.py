"""The products of stablehlo: convolutions, contractions, Fourier transforms, triangular systems."""

from __future__ import annotations

from ..op_table import FUNCTIONAL
from ..vocabulary import *
from .attributes import (
    ConvDims,
    DotAlgorithm,
    DotDims,
    parameters_kind,
)
from .checks import check_count, check_dims, check_result, fits, is_ranked, shapes_fit
from .kinds import table

PURE = (Pure,)


OPS = table(
    """
    dot: The product of matrices or vectors.
      lhs:tensor rhs:tensor !precision_config:array? -> result:tensor
    = custom<SomeOperands>(operands) custom<Precision>($precision_config) FUNCTIONAL
    > %r = stablehlo.dot %x, %y : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>

    einsum: The sum of products that a formula of letters says.
      lhs:tensor rhs:tensor !einsum_config:string -> result:tensor
    = custom<SomeOperands>(operands) `,` `config` `=` $einsum_config FUNCTIONAL
    > %r = stablehlo.einsum %x, %y, config = "ij,jk->ik" : (tensor<4x6xf32>, tensor<6x5xf32>) ->
      tensor<4x5xf32>

    fft: The Fourier transform of the last dimensions, or its inverse.
      input:tensor !fft_type:fft_type !fft_length:ints -> result:tensor
    = custom<SomeOperands>(operands) `,` `type` `=` $fft_type `,` `length` `=` $fft_length
      FUNCTIONAL
    > %r = stablehlo.fft %x, type = FFT, length = [8] : (tensor<3x8xcomplex<f32>>) ->
      tensor<3x8xcomplex<f32>>

    triangular_solve: The solution of a triangular system of equations.
      a:tensor b:tensor !left_side:bool !lower:bool !unit_diagonal:bool !transpose_a:transpose ->
      result:tensor
    > %r = "stablehlo.triangular_solve"(%x, %y)
    >     <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>,
    >     unit_diagonal = false}>
    >     : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    """,
    Pure,
)


class DotGeneral(Op, name="stablehlo.dot_general", traits=PURE):
    """Products summed over dimensions of both operands, batched over others."""

    lhs: Operand = operand(AnyTensor)
    rhs: Operand = operand(AnyTensor)
    dot_dimension_numbers: Any = attribute(parameters_kind(DotDims))
    precision_config: Any = attribute(ARRAY, optional=True)
    algorithm: Any = attribute(parameters_kind(DotAlgorithm), optional=True)
    result: Result = result(AnyTensor)

    format = (
        "custom<SomeOperands>(operands) `,` custom<DotDimensionNumbers>($dot_dimension_numbers) "
        f"custom<Precision>($precision_config, $algorithm) {FUNCTIONAL}"
    )
    example = (
        "%r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x "
        "[1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> "
        "tensor<2x3x5xf32>"
    )

    @property
    def dims(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """The batching and the contracting dimensions of lhs, then of rhs."""
        numbers = self.dot_dimension_numbers
        return tuple(
            (
                numbers.value(f"{s}_batching_dimensions"),
                numbers.value(f"{s}_contracting_dimensions"),
            )
            for s in ("lhs", "rhs")
        )

    def verify_op(self) -> None:
        types: list[Any] = list(self.operand_types)
        if not is_ranked(*types):
            return
        free = []
        for (batching, contracting), type in zip(self.dims, types, strict=True):
            check_dims(self, (*batching, *contracting), type.rank, "dot_dimension_numbers")
            used = {*batching, *contracting}
            free += [d for i, d in enumerate(type.shape) if i not in used]
        for left, right in zip(*self.dims, strict=True):
            if len(left) != len(right) or any(
                not fits(types[0].shape[a], types[1].shape[b])
                for a, b in zip(left, right, strict=True)
            ):
                raise self.error("dimensions of lhs and rhs that belong together must match")
        batch = [types[0].shape[i] for i in self.dims[0][0]]
        check_result(self, (*batch, *free), None)


class AnyConvolution(Op, traits=PURE):
    """Base of convolutions, with padding that the op states and with padding that is computed."""

    lhs: Operand = operand(AnyTensor)
    rhs: Operand = operand(AnyTensor)
    window_strides: Any = attribute(INT_ARRAY, optional=True)
    padding: Any = attribute(ANY, optional=True)
    lhs_dilation: Any = attribute(INT_ARRAY, optional=True)
    rhs_dilation: Any = attribute(INT_ARRAY, optional=True)
    window_reversal: Any = attribute(ANY, optional=True)
    dimension_numbers: Any = attribute(instance(ConvDims))
    feature_group_count = attribute(I64)
    batch_group_count = attribute(I64)
    precision_config: Any = attribute(ARRAY, optional=True)
    result: Result = result(AnyTensor)

    @property
    def pads(self) -> tuple[tuple[int, int], ...]:
        """Padding before and behind each spatial dimension."""
        count = len(self.dimension_numbers.lhs) - 2
        if not isinstance(self.padding, DenseElements):
            return ((0, 0),) * count
        return tuple((int(low), int(high)) for low, high in self.padding.to_numpy())

    def steps(self, values: Any) -> tuple[int, ...]:
        """Strides or dilations, 1 where none are given."""
        return values or (1,) * (len(self.dimension_numbers.lhs) - 2)

    def verify_op(self) -> None:
        types: list[Any] = [*self.operand_types[:2], *self.result_types]
        numbers = self.dimension_numbers
        if not is_ranked(*types):
            return
        for which, type, letters in zip(
            ("lhs", "rhs", "out"), types, ("bf", "io", "bf"), strict=True
        ):
            names = getattr(numbers, which)
            spatial = [str(i) for i in range(type.rank - 2)]
            if sorted(names) != sorted([*letters, *spatial]):
                raise self.error(f"dim_numbers of {which} do not fit rank {type.rank}")
        if len({type.rank for type in types}) > 1:
            raise self.error("requires the same rank for operands and result")
        spatial = types[0].rank - 2
        for what in ("window_strides", "lhs_dilation", "rhs_dilation"):
            check_count(self, getattr(self, what), spatial, what)
            if any(step < 1 for step in getattr(self, what) or ()):
                raise self.error(f"{what} must be positive")
        if self.padding is not None and getattr(self.padding.type, "shape", ()) != (spatial, 2):
            raise self.error(f"padding must be a tensor of {spatial}x2 integers")
        if self.feature_group_count < 1 or self.batch_group_count < 1:
            raise self.error("group counts must be positive")
        self._check_shapes(types, spatial)

    def _check_shapes(self, types: list[Any], spatial: int) -> None:
        numbers, groups = self.dimension_numbers, self.feature_group_count
        lhs = [types[0].shape[i] for i in numbers.order("lhs", "b", "f")]
        rhs = [types[1].shape[i] for i in numbers.order("rhs", "i", "o")]
        out: list[Any] = [None] * types[2].rank
        order = numbers.order("out", "b", "f")
        if lhs[1] is not None and rhs[0] is not None and lhs[1] != rhs[0] * groups:
            raise self.error(
                f"input feature dimension {lhs[1]} does not fit {rhs[0]} kernel features of "
                f"{groups} groups"
            )
        if lhs[0] is not None:
            out[order[0]] = lhs[0] // self.batch_group_count
        out[order[1]] = rhs[1]
        steps = [self.steps(v) for v in (self.window_strides, self.lhs_dilation, self.rhs_dilation)]
        for i in range(spatial):
            extent, kernel = lhs[2 + i], rhs[2 + i]
            if extent is None or kernel is None or len(self.operands) > 2:
                continue
            stride, spread, dilation = (step[i] for step in steps)
            room = (
                max(extent - 1, -1) * spread + 1 + sum(self.pads[i])
                if extent
                else sum(self.pads[i])
            )
            reach = (kernel - 1) * dilation + 1
            out[order[2 + i]] = max(0, (room - reach) // stride + 1)
        check_result(self, out, None)


class Convolution(AnyConvolution, name="stablehlo.convolution"):
    """Windows of the operand times a kernel, with dimensions in any order."""

    format = (
        "`(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,` "
        "`window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, "
        f"$rhs_dilation, $window_reversal) `}}` {FUNCTIONAL}"
    )
    example = (
        "%r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
        "window = {stride = [2, 2], pad = [[1, 1], [0, 1]]} {batch_group_count = 1 : i64, "
        "feature_group_count = 1 : i64} : (tensor<2x9x8x3xf32>, tensor<3x3x3x5xf32>) -> "
        "tensor<2x5x4x5xf32>"
    )


class DynamicConv(AnyConvolution, name="stablehlo.dynamic_conv"):
    """A convolution whose padding is an operand: [[low, high], ..] of the spatial dimensions."""

    d_padding: Operand = operand(AnyTensor)

    example = (
        '%r = "stablehlo.dynamic_conv"(%x, %w, %p) {batch_group_count = 1 : i64, dimension_numbers '
        "= #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64} : "
        "(tensor<2x9x3xf32>, tensor<3x3x5xf32>, tensor<1x2xi32>) -> tensor<2x?x5xf32>"
    )

    def verify_op(self) -> None:
        super().verify_op()
        given, rank = self.d_padding.type, len(self.dimension_numbers.lhs)
        if isinstance(given, TensorType) and not shapes_fit(given.shape, (rank - 2, 2)):
            raise self.error(f"d_padding must be a tensor of {rank - 2}x2 integers")


@OPS.verifies("fft")
def _check_fft(op: Any) -> None:
    given = op.input.type
    if isinstance(given, TensorType) and not 1 <= len(op.fft_length) <= min(3, given.rank):
        raise op.error("fft_length must have 1 to 3 entries, at most the operand's rank")


@OPS.verifies("triangular_solve")
def _check_triangular_solve(op: Any) -> None:
    if isinstance(op.b.type, TensorType):
        check_result(op, op.b.type.shape, op.b.type.element_type)
