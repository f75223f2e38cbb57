"""Random modules: what is printed parses to the same, and prints the same again."""

from hypothesis import given, settings
from hypothesis import strategies as st
from nnc.ir import attributes as a
from nnc.ir import types as t
from nnc.ir.affine import AffineConstant, AffineDim, AffineMap, AffineSymbol
from nnc.ir.core import Block, Region, UnregisteredOp
from nnc.ir.diagnostics import ParseError
from nnc.ir.location import UNKNOWN, CallSiteLoc, FileLineColLoc, NameLoc, fuse_locations
from nnc.ir.syntax.parser import parse_attribute, parse_module, parse_op
from nnc.ir.syntax.printer import print_op

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
words = st.from_regex(r"[a-z_][a-z0-9_$.]{0,5}", fullmatch=True)
integers = st.builds(t.IntegerType, st.integers(1, 70), st.sampled_from(["", "s", "u"]))
floats = st.sampled_from([t.FloatType(k) for k in ("f16", "bf16", "f32", "f64", "f8E5M2")])
scalars = st.one_of(integers, floats, st.just(t.index))
dims = st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=3).map(tuple)
static_dims = st.lists(st.integers(1, 4), max_size=3).map(tuple)


@st.composite
def vectors(draw):
    shape = draw(static_dims)
    scalable = tuple(draw(st.booleans()) for _ in shape)
    return t.VectorType(shape, draw(scalars), scalable)


@st.composite
def affine_maps(draw):
    dim_count, symbol_count = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    leaves = [AffineConstant(draw(st.integers(-9, 9)))]
    leaves += [AffineDim(i) for i in range(dim_count)]
    leaves += [AffineSymbol(i) for i in range(symbol_count)]

    def combine(inner):
        constants = st.integers(1, 8)
        return st.one_of(
            st.builds(lambda x, y: x + y, inner, inner),
            st.builds(lambda x, y: x - y, inner, inner),
            st.builds(lambda x, c: x * c, inner, st.integers(-5, 5)),
            st.builds(lambda x, c: x // c, inner, constants),
            st.builds(lambda x, c: x % c, inner, constants),
            st.builds(lambda x, c: x.ceildiv(c), inner, constants),
        )

    exprs = st.recursive(st.sampled_from(leaves), combine, max_leaves=5)
    results = draw(st.lists(exprs, max_size=3))
    # Through text, since building and reading simplify in another order.
    map = AffineMap(dim_count, symbol_count, tuple(results))
    return parse_attribute(f"affine_map<{map}>")


layouts = st.builds(
    lambda strides, offset: (strides, offset),
    st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=3),
    st.one_of(st.none(), st.integers(0, 9)),
)


@st.composite
def memrefs(draw):
    strides, offset = draw(layouts)
    shape = tuple(draw(st.one_of(st.none(), st.integers(0, 9))) for _ in strides)
    layout = draw(st.sampled_from([None, a.StridedLayoutAttr(tuple(strides), offset)]))
    space = draw(st.sampled_from([None, a.I64Attr(1), a.StringAttr("s")]))
    return t.MemRefType(shape, draw(scalars), layout, space)


types = st.recursive(
    st.one_of(
        scalars,
        vectors(),
        memrefs(),
        st.builds(t.TensorType, dims, scalars),
        st.builds(t.UnrankedTensorType, scalars),
        st.just(t.none),
    ),
    lambda inner: st.one_of(
        st.builds(t.TupleType, st.lists(inner, max_size=3).map(tuple)),
        st.builds(
            t.FunctionType,
            st.lists(inner, max_size=2).map(tuple),
            st.lists(inner, max_size=2).map(tuple),
        ),
    ),
    max_leaves=4,
)


@st.composite
def numbers(draw):
    type = draw(scalars)
    if isinstance(type, t.FloatType):
        return a.FloatAttr(draw(st.floats(allow_nan=False)), type)
    return a.IntegerAttr(draw(st.integers(-(2**70), 2**70)) if type is not t.index else 5, type)


@st.composite
def elements(draw):
    type = t.TensorType(draw(static_dims), draw(scalars))
    size = type.num_elements * type.element_type.byte_width
    data = draw(st.binary(min_size=size, max_size=size))
    values = [
        type.element_type.from_bytes(data[i : i + type.element_type.byte_width])
        for i in range(0, size, type.element_type.byte_width)
    ]
    return a.DenseElements.from_list([0 if v != v else v for v in values], type)


attributes = st.recursive(
    st.one_of(
        numbers(),
        elements(),
        types,
        affine_maps(),
        st.builds(a.StringAttr, names),
        st.just(a.UnitAttr()),
        st.builds(a.SymbolRefAttr, names, st.lists(names, max_size=2).map(tuple)),
        st.builds(a.I64Array, st.lists(st.integers(-99, 99), max_size=3)),
    ),
    lambda inner: st.one_of(
        st.builds(a.ArrayAttr, st.lists(inner, max_size=3).map(tuple)),
        st.dictionaries(names, inner, max_size=3).map(lambda d: a.DictAttr(tuple(d.items()))),
    ),
    max_leaves=5,
)
locations = st.recursive(
    st.one_of(
        st.just(UNKNOWN),
        st.builds(FileLineColLoc, names, st.integers(0, 99), st.integers(0, 99)),
        st.builds(NameLoc, names),
    ),
    lambda inner: st.one_of(
        st.builds(NameLoc, names, inner),
        st.builds(CallSiteLoc, inner, inner),
        st.lists(inner, max_size=3).map(fuse_locations),
    ),
    max_leaves=3,
)


@st.composite
def blocks(draw, available, depth):
    block = Block(draw(st.lists(types, max_size=2)))
    for arg in block.args:
        arg.loc = draw(locations)
    values = [*available, *block.args]
    for _ in range(draw(st.integers(0, 3))):
        op = draw(operations(values, depth))
        block.append(op)
        values += op.results
    return block


@st.composite
def operations(draw, available, depth):
    operands = draw(st.lists(st.sampled_from(available), max_size=3)) if available else []
    regions = []
    if depth:
        for _ in range(draw(st.integers(0, 2))):
            inner = draw(st.lists(blocks(available, depth - 1), max_size=2))
            regions.append(Region(inner))
    return UnregisteredOp.named(
        f"t.{draw(st.sampled_from(['a', 'b', 'c']))}",
        operands,
        draw(st.lists(types, max_size=3)),
        draw(st.dictionaries(words, attributes, max_size=2)),
        draw(st.dictionaries(words, attributes, max_size=2)),
        regions,
        (),
        draw(locations),
    )


@given(attributes)
@settings(max_examples=120, deadline=None)
def test_attributes(attribute):
    text = str(attribute)
    again = parse_attribute(text)
    assert again == attribute
    assert str(again) == text


@given(operations((), 2), st.booleans())
@settings(max_examples=50, deadline=None)
def test_operations(op, debuginfo):
    text = print_op(op, debuginfo=debuginfo)
    again = parse_op(text, "f", allow_unregistered=True)
    assert print_op(again, debuginfo=debuginfo) == text
    for old, new in zip(op.walk(), again.walk(), strict=True):
        assert old.attributes == new.attributes
        assert old.properties == new.properties
        assert old.result_types == new.result_types
        if debuginfo:
            assert old.loc == new.loc


SOURCE = """\
#map = affine_map<(d0) -> (d0 + 1)>
module @m attributes {a = [1 : i32, "text"], b = dense<[1.0, 2.0]> : tensor<2xf32>} {
  func.func @f(%arg0: i32, %arg1: memref<4x?xf32, strided<[?, 1], offset: ?>>) -> i32 {
    %c0 = arith.constant 0 : index // comment
    %0:2 = "t.x"(%arg0) ({
    ^bb0(%a: i32):
      cf.br ^bb1(%a : i32)
    ^bb1(%b: i32):
      "t.y"() : () -> ()
    }) {m = #map} : (i32) -> (i32, f32) loc("x":1:2)
    %1 = memref.load %arg1[%c0, %c0] : memref<4x?xf32, strided<[?, 1], offset: ?>>
    return %0#0 : i32
  }
}
"""


@given(st.data())
@settings(max_examples=120, deadline=None)
def test_damaged_text_gives_an_error_or_a_module(data):
    """Deleting, doubling or replacing a piece of text never fails in any other way."""
    start = data.draw(st.integers(0, len(SOURCE)))
    end = data.draw(st.integers(start, min(len(SOURCE), start + 20)))
    piece = data.draw(
        st.one_of(
            st.just(""),
            st.just(SOURCE[start:end] * 2),
            st.sampled_from([*"(){}[]<>%^@#!\"',:=->\0é\n", "//", "->", "loc(", "i32", "%0"]),
        )
    )
    text = SOURCE[:start] + piece + SOURCE[end:]
    try:
        module = parse_module(text, "f", allow_unregistered=True)
    except ParseError as error:
        assert error.diagnostic.location is not None
    else:
        str(module)
