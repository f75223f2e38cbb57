"""The named structured ops that differ only in their maps and their function, as tables.

Each op is declared when it is first used: there are many, and a file uses few. A row of
`CONTRACTIONS` or `POOLINGS` has the loops and the indices of each operand, a letter for each loop.
An upper-case letter such as `H` is an index of the output of a window; in the input it stands for
`H * stride + h * dilation`, with `h` the index in the window.
"""

from __future__ import annotations

from functools import cache

from ...ir.builder import Builder
from .. import arith
from ..index_lists import plain_error
from ..vocabulary import *
from .generic import Index
from .named import FORMAT, NamedOp, Pointwise, multiply_add, projection
from .scalars import apply, arity, cast_scalar
from .structured import SegmentedOp

POINTWISE = {
    "exp": "exp(x)",
    "log": "log(x)",
    "abs": "|x|",
    "ceil": "x rounded up",
    "floor": "x rounded down",
    "negf": "-x",
    "reciprocal": "1 / x",
    "round": "x rounded to the nearest integer, halves away from zero",
    "sqrt": "the square root of x",
    "rsqrt": "1 / the square root of x",
    "square": "x * x",
    "tanh": "tanh(x)",
    "erf": "the error function of x",
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "div": "x / y, integers as signed",
    "div_unsigned": "x / y, integers as unsigned",
    "max": "the greater of x and y, integers as signed",
    "min": "the lesser of x and y, integers as signed",
    "powf": "x to the power of y",
    "select": "y where x is true, else z",
}
"""Elementwise functions with their descriptions."""

CONTRACTIONS = """
    mmt4d                          mnkabc     mkac   nkbc   mnab
    batch_mmt4d                    zmnkabc    zmkac  znkbc  zmnab
    matvec                         mn         mn     n      m
    vecmat                         nm         m      mn     n
    batch_matvec                   zmk        zmk    zk     zm
    batch_vecmat                   znk        zk     zkn    zn
    dot                            m          m      m      -
    quantized_matmul               mnk        mk     kn     mn
    quantized_batch_matmul         zmnk       zmk    zkn    zmn
    conv_1d                        Ww         W      w      W
    conv_2d                        HWhw       HW     hw     HW
    conv_3d                        DHWdhw     DHW    dhw    DHW
    conv_1d_nwc_wcf                nWfwc      nWc    wcf    nWf
    conv_1d_ncw_fcw                nfWcw      ncW    fcw    nfW
    conv_2d_nhwc_hwcf              nHWfhwc    nHWc   hwcf   nHWf
    conv_2d_nhwc_fhwc              nHWfhwc    nHWc   fhwc   nHWf
    conv_2d_nchw_fchw              nfHWchw    ncHW   fchw   nfHW
    conv_2d_nhwc_hwcf_q            nHWfhwc    nHWc   hwcf   nHWf
    conv_2d_nhwc_fhwc_q            nHWfhwc    nHWc   fhwc   nHWf
    conv_2d_nchw_fchw_q            nfHWchw    ncHW   fchw   nfHW
    conv_2d_ngchw_fgchw            ngfHWchw   ngcHW  fgchw  ngfHW
    conv_2d_ngchw_gfchw            ngfHWchw   ngcHW  gfchw  ngfHW
    conv_2d_ngchw_gfchw_q          ngfHWchw   ngcHW  gfchw  ngfHW
    conv_2d_nhwgc_gfhwc            nHWgfhwc   nHWgc  gfhwc  nHWgf
    conv_2d_nhwgc_gfhwc_q          nHWgfhwc   nHWgc  gfhwc  nHWgf
    conv_3d_ndhwc_dhwcf            nDHWfdhwc  nDHWc  dhwcf  nDHWf
    conv_3d_ndhwc_dhwcf_q          nDHWfdhwc  nDHWc  dhwcf  nDHWf
    conv_3d_ncdhw_fcdhw            nfDHWcdhw  ncDHW  fcdhw  nfDHW
    depthwise_conv_1d_nwc_wc       nWcw       nWc    wc     nWc
    depthwise_conv_1d_ncw_cw       nWcw       ncW    cw     ncW
    depthwise_conv_1d_nwc_wcm      nWcmw      nWc    wcm    nWcm
    depthwise_conv_2d_nhwc_hwc     nHWchw     nHWc   hwc    nHWc
    depthwise_conv_2d_nchw_chw     nHWchw     ncHW   chw    ncHW
    depthwise_conv_2d_nhwc_hwc_q   nHWchw     nHWc   hwc    nHWc
    depthwise_conv_2d_nhwc_hwcm    nHWcmhw    nHWc   hwcm   nHWcm
    depthwise_conv_2d_nhwc_hwcm_q  nHWcmhw    nHWc   hwcm   nHWcm
    depthwise_conv_3d_ndhwc_dhwc   nDHWdhwc   nDHWc  dhwc   nDHWc
    depthwise_conv_3d_ncdhw_cdhw   nDHWdhwc   ncDHW  cdhw   ncDHW
    depthwise_conv_3d_ndhwc_dhwcm  nDHWmdhwc  nDHWc  dhwcm  nDHWcm
"""
"""out += lhs * rhs: name, loops, and the indices of lhs, rhs and out.
In the quantized ones, `quantized_` or `_q`, zero points of lhs and rhs are further scalar inputs.
"""

POOLINGS = """
    pooling_nhwc_sum           nHWchw    nHWc   hw   nHWc
    pooling_nchw_sum           ncHWhw    ncHW   hw   ncHW
    pooling_nhwc_max           nHWchw    nHWc   hw   nHWc
    pooling_nhwc_max_unsigned  nHWchw    nHWc   hw   nHWc
    pooling_nchw_max           ncHWhw    ncHW   hw   ncHW
    pooling_nhwc_min           nHWchw    nHWc   hw   nHWc
    pooling_nhwc_min_unsigned  nHWchw    nHWc   hw   nHWc
    pooling_nwc_sum            nWcw      nWc    w    nWc
    pooling_ncw_sum            ncWw      ncW    w    ncW
    pooling_nwc_max            nWcw      nWc    w    nWc
    pooling_nwc_max_unsigned   nWcw      nWc    w    nWc
    pooling_ncw_max            ncWw      ncW    w    ncW
    pooling_nwc_min            nWcw      nWc    w    nWc
    pooling_nwc_min_unsigned   nWcw      nWc    w    nWc
    pooling_ndhwc_sum          nDHWcdhw  nDHWc  dhw  nDHWc
    pooling_ndhwc_max          nDHWcdhw  nDHWc  dhw  nDHWc
    pooling_ndhwc_min          nDHWcdhw  nDHWc  dhw  nDHWc
"""
"""out = f(out, input) over windows: name, loops, and the indices of input, window and out.
The window is an operand of which only the shape counts.
"""


@cache
def row_of(name: str) -> tuple[str, str, str, str]:
    """A row of the tables: the loops, then the indices of the three operands."""
    for line in (CONTRACTIONS + POOLINGS).splitlines():
        found, *row = line.split() or [""]
        if found == name:
            loops, first, second, out = row
            return loops, first, second, out.strip("-")
    raise KeyError(name)


class Tabulated(NamedOp, SegmentedOp):
    """Base of the ops of `CONTRACTIONS` and `POOLINGS`."""

    memoizes_maps = True
    format = FORMAT

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The op's loops and the indices of its three operands, from the tables."""
        return row_of(self.name.partition(".")[2])

    @property
    def maps(self) -> list[AffineMap]:
        loops, first, second, out = self.row
        scalar = AffineMap(len(loops), 0, ())
        windows = [place for place in loops if place.isupper()]
        strides, dilations = (self._steps(key, len(windows)) for key in ("strides", "dilations"))

        def at(letter: str) -> AffineExpr:
            place = AffineDim(loops.index(letter))
            if letter not in windows:
                return place
            i, inner = windows.index(letter), AffineDim(loops.index(letter.lower()))
            return place * strides[i] + inner * dilations[i]

        source = AffineMap(len(loops), 0, tuple(at(letter) for letter in first))
        others = [projection(len(loops), *map(loops.index, part)) for part in (second, out)]
        scalars = [scalar] * (len(self.operands) - 3)
        return [source, others[0], *scalars, others[1]]

    def _steps(self, key: str, count: int) -> list[int]:
        given: Any = self.properties.get(key)
        if not isinstance(given, DenseElements):
            return [1] * count
        steps = [int(n) for n in given.to_numpy().flat]
        return steps if len(steps) == count or not count else [1] * count

    @property
    def iterators(self) -> list[str]:
        loops, _, _, out = self.row
        return ["parallel" if letter in out else "reduction" for letter in loops]

    def verify_op(self) -> None:
        for key in ("strides", "dilations"):
            if any(step <= 0 for step in self._steps(key, 0)):
                raise plain_error(self, "unexpected loop dimension for convolution op")
        self.verify_structure()


class TabulatedContraction(Tabulated):
    """out += lhs * rhs, over the maps of a row."""

    operand_count = 3

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        lhs, rhs, out = elements
        return multiply_add(builder, lhs, rhs, out, unsigned=False)


class QuantizedContraction(Tabulated):
    """out += (lhs - its zero point) * (rhs - its zero point), over the maps of a row."""

    operand_count = 5

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        lhs, rhs, lhs_zero, rhs_zero, out = elements
        factors = []
        for value, zero in ((lhs, lhs_zero), (rhs, rhs_zero)):
            parts = [cast_scalar(builder, v, out.type) for v in (value, zero)]
            factors.append(apply(builder, "sub", *parts))
        return apply(builder, "add", out, apply(builder, "mul", *factors))


class Pooling(Tabulated):
    """out = f(out, input) over windows, with the maps of a row."""

    operand_count = 3

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        source, _, out = elements
        function = self.name.partition("_")[2].partition("_")[2]
        unsigned = function.endswith("_unsigned")
        term = cast_scalar(builder, source, out.type, unsigned)
        kind = "add" if function == "sum" else function if unsigned else f"{function}_signed"
        return apply(builder, kind, out, term)


class PointwiseFunction(Pointwise):
    """The function of the op's name, of elements at the same index."""

    format = FORMAT

    @property
    def kind(self) -> str:
        """The name of the function."""
        return kind_of(self.name.partition(".")[2])

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        return apply(builder, self.kind, *elements[:-1])


def kind_of(name: str) -> str:
    """The scalar function of an op's name: `max_signed` for `max`."""
    return f"{name}_signed" if name in ("max", "min") else name


class FillRandom(NamedOp, SegmentedOp):
    """Pseudo-random numbers between two scalars, computed from a seed and the element's index."""

    operand_count = 4
    memoizes_maps = True
    format = FORMAT
    example = "linalg.fill_rng_2d ins(%a, %b, %seed : f64, f64, i32) outs(%m : memref<4x8xf32>)"

    @property
    def maps(self) -> list[AffineMap]:
        return [AffineMap(2, 0, ())] * 3 + [AffineMap.identity(2)]

    @property
    def iterators(self) -> list[str]:
        return ["parallel", "parallel"]

    def build_body(self, builder: Builder, *elements: Value) -> Value:
        low, high, seed, out = elements
        f64 = FloatType("f64")

        def constant(number: int) -> Value:
            return builder.insert(arith.Constant(IntegerAttr(number, i64))).result

        def mixed(first: Value) -> Value:
            """One step of a linear congruential generator."""
            factor = cast_scalar(builder, constant(1103515245), i32)
            product = apply(builder, "mul", first, factor)
            return apply(builder, "add", product, cast_scalar(builder, constant(12345), i32))

        middle = cast_scalar(builder, constant(2147483647), f64)
        column = cast_scalar(builder, builder.insert(Index(dim=1)).result, i32)
        row = cast_scalar(builder, builder.insert(Index(dim=0)).result, i32)
        state = mixed(apply(builder, "add", row, seed))
        state = mixed(apply(builder, "add", column, state))
        number = apply(builder, "add", middle, cast_scalar(builder, state, f64))
        width = apply(builder, "sub", high, low)
        scale = builder.insert(arith.Constant(FloatAttr(2.3283063999999999e-10, f64))).result
        part = apply(builder, "mul", number, apply(builder, "mul", width, scale))
        return cast_scalar(builder, apply(builder, "add", part, low), out.type)


# -- declaring ---------------------------------------------------------------------------------


@cache
def _steps_kind(count: int) -> AttrKind[Any]:
    return AttrKind(
        f"64-bit signless int elements attribute of shape [{count}]",
        lambda a: (
            isinstance(a, DenseElements) and a.type.element_type is i64 and a.type.shape == (count,)
        ),
        lambda a: a,
        lambda a: a,
        cls=DenseElements,
    )


def _summary(name: str, base: type) -> str:
    loops, first, second, out = row_of(name)
    inner = [
        f"{c}*stride + {c.lower()}*dilation" if _has_steps(name) else f"{c} + {c.lower()}"
        for c in loops
        if c.isupper()
    ]
    windows = iter(inner)
    at = ", ".join(next(windows) if letter.isupper() else letter for letter in first)
    result = f"out[{', '.join(out)}]"
    if base is Pooling:
        function = name.split("_", 2)[2].replace("_", ", ")
        return f"{result} = {function} over windows [{', '.join(second)}] of input[{at}]"
    text = f"{result} += lhs[{at}] * rhs[{', '.join(second)}]"
    return f"{text}, less their zero points" if base is QuantizedContraction else text


def _has_steps(name: str) -> bool:
    return name.count("_") > 1 and ("conv_" in name or "pooling_" in name)


def _example(name: str, base: type) -> str:
    """An example of the op with small shapes that fit together."""
    loops, first, second, out = row_of(name)
    sizes = {letter: 2 + i % 3 for i, letter in enumerate(loops)}
    of_input = {c: sizes[c] + sizes[c.lower()] - 1 if c.isupper() else sizes[c] for c in loops}
    quantized = base is QuantizedContraction
    small, wide = ("i8", "i32") if quantized else ("f32", "f32")
    if name.endswith("_unsigned"):
        small = wide = "i32"

    def memref(letters: str, extents: dict[str, int], element: str) -> str:
        return "memref<" + "".join(f"{extents[c]}x" for c in letters) + f"{element}>"

    types = [memref(first, of_input, small), memref(second, sizes, small)]
    types += ["i32", "i32"] if quantized else []
    values = ["%a", "%b", "%za", "%zb"][: len(types)]
    result = memref(out, sizes, wide)
    return f"linalg.{name} ins({', '.join(values)} : {', '.join(types)}) outs(%c : {result})"


def _declare(full_name: str) -> Any:
    name = full_name.partition(".")[2]
    body: dict[str, Any] = {"__module__": __name__}
    if name in POINTWISE:
        base: Any = PointwiseFunction
        count = arity(kind_of(name))
        values = ["%x", "%y", "%z"][:count]
        types = ["memref<4xi1>" if name == "select" else "memref<4xf32>"]
        types += ["memref<4xf32>"] * (count - 1)
        if name == "div_unsigned":
            types = ["memref<4xi32>"] * count
        body["operand_count"] = count + 1
        body["__doc__"] = f"Element by element: {POINTWISE[name]}."
        body["example"] = (
            f"linalg.{name} ins({', '.join(values)} : {', '.join(types)}) outs(%out : {types[-1]})"
        )
    elif name == "fill_rng_2d":
        base = FillRandom
        body["__doc__"] = FillRandom.__doc__
    else:
        base = Pooling if name.startswith("pooling") else TabulatedContraction
        if name.startswith("quantized") or name.endswith("_q"):
            base = QuantizedContraction
        if _has_steps(name):
            count = sum(letter.isupper() for letter in row_of(name)[0])
            for key in ("strides", "dilations"):
                body[key] = attribute(_steps_kind(count), optional=True)
        body["__doc__"] = _summary(name, base) + "\n"
        body["example"] = _example(name, base)
    class_name = "".join(part.title() for part in name.split("_"))
    body["__qualname__"] = class_name
    return OpMeta(class_name, (base,), body, name=full_name)


def _names() -> list[str]:
    rows = [line.split()[0] for line in (CONTRACTIONS + POOLINGS).splitlines() if line.strip()]
    return [f"linalg.{name}" for name in (*POINTWISE, *rows, "fill_rng_2d")]


registry.defer_ops(_names(), _declare)
