"""Types, attributes, numbers and names of every kind, ordinary ones and extreme ones."""

from __future__ import annotations

import random

NUMBERS = (
    *("0", "1", "-1", "2", "3", "7", "8", "63", "64", "127", "128", "255", "1024", "-2147483648"),
    *("4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808"),
    *("-9223372036854775809", "18446744073709551615", "18446744073709551616", "9999999999"),
    *("1" + "0" * 30, "-1" + "0" * 30, "9" * 400, "0x0", "0x7FC00000", "0xFFFFFFFFFFFFFFFF"),
    *("0.0", "-0.0", "1.0", "1.5e308", "1e400", "1.0e400", "-1.0e-400", "1.0e", "0x", "1.", ".5"),
)

SCALARS = (
    *("i1", "i8", "i16", "i32", "i64", "si8", "ui8", "ui64", "i0", "i7", "i128", "i1000"),
    *("i16777215", "i16777216", "index", "none", "f16", "bf16", "f32", "tf32", "f64", "f80"),
    *("f128", "f8E5M2", "f8E4M3FN", "f8E8M0FNU", "f6E2M3FN", "f4E2M1FN", "complex<f32>"),
    *("complex<i8>", "tuple<>", "tuple<i32, f32>", "() -> ()", "(i32) -> (f32, i1)", "!llvm.ptr"),
    *("!llvm.ptr<3>", "!llvm.void", "!llvm.struct<(i32, f32)>", "!llvm.array<4 x f32>"),
    *("!llvm.array<0 x i8>", '!llvm.struct<"a", opaque>', "!llvm.func<void (i32, ...)>"),
    *("!foo.bar", "!foo.bar<[1, {a}]>", "!llvm.vec<4 x ptr>"),
)

ENCODINGS = (
    *("strided<[1, 2]>", "strided<[?], offset: ?>", "strided<[], offset: 3>", "1", "3 : i64"),
    *("affine_map<(d0) -> (d0)>", "affine_map<(d0, d1) -> (d1, d0)>", '"space"', "[1, 2]"),
    *("affine_map<(d0, d1) -> (d0 floordiv 0)>", "strided<[0, 0]>", "#foo.bar<1>", "unit"),
)

ATTRIBUTES = (
    *("unit", "true", "false", '"text"', '"\\00\\FF"', "@a", "@a::@b::@c", '@"a b"', "[]", "{}"),
    *("[1, 2]", "[[], [unit]]", '{a = 1 : i8, "b c" = "d"}', "0 : index", "1 : i1", "-1 : i64"),
    *(
        "1.0 : f32",
        "0x7FC00000 : f32",
        "0x7F : f8E5M2",
        "1.0 : f64",
        "array<i32>",
        "array<i1: true>",
    ),
    *("array<i64: 1, 2>", "array<i64: -1, 0>", "array<f32: 1.0, 0x7F800000>", "array<i32: 0>"),
    *("dense<1> : tensor<2xi32>", "dense<[1, 2]> : tensor<2xi64>", "dense<1.0> : vector<4xf32>"),
    *(
        "dense<> : tensor<0xf32>",
        'dense<"0x0000803F"> : tensor<1xf32>',
        "dense<true> : vector<4xi1>",
    ),
    *("dense<(1.0, 2.0)> : tensor<3xcomplex<f32>>", "dense<1> : tensor<9999999999xi8>"),
    *("dense<0.0> : tensor<99999x99999x99999xf32>", "dense_resource<r> : tensor<2xf32>"),
    *("affine_map<(d0, d1)[s0] -> (d0 + s0, d1 mod 4)>", "affine_map<() -> ()>"),
    *("affine_map<(d0) -> (d0 floordiv 0)>", "affine_map<(d0) -> (d0 mod -1)>"),
    *("affine_map<(d0) -> (d0 * 9223372036854775807 + 9223372036854775807)>",),
    *("affine_set<(d0)[s0] : (d0 - 1 >= 0, s0 == 0)>", "strided<[1, ?], offset: 2>"),
    *("distinct[0]<unit>", "distinct[1]<>", 'loc("f":1:2)', 'loc(fused<1>["a", unknown])'),
    *("loc(callsite(unknown at unknown))", "#foo.bar<[1, 2], {a}>", "#arith.fastmath<fast, nnan>"),
    *("#arith.overflow<nsw>", "#ub.poison", '"parallel"', '"reduction"', "#vector.kind<add>"),
    *("#linalg.iterator_type<parallel>", "i32", "tensor<4xf32>", "() -> i32", "#a", "#map"),
)

WORDS = (
    *("->", ":", "=", ",", "(", ")", "[", "]", "{", "}", "<", ">", "{-#", "#-}", "<{", "}>", "?"),
    *("*", "x", "loc", "to", "at", "for", "ins", "outs", "attributes", "step", "^bb0", "^bb1:"),
    *("%0", "%arg0", "%0#1", "%x:2", "@f", "private", "nested", "module", "func.func", "return"),
    *("cf.br", "arith.constant", '"t.op"() : () -> ()', "// -----", "//", '"', "\\", "\0", "é"),
    *("unknown", "dense", "affine_map", "array", "distinct", "!a", "#a", "::", "==", ">=", "..."),
)


def number(choice: random.Random) -> str:
    """A number, mostly small."""
    if choice.random() < 0.5:
        return str(choice.randint(0, 9))
    return choice.choice(NUMBERS)


def dimension(choice: random.Random) -> str:
    """A dimension of a shaped type."""
    common = ("1", "2", "3", "4", "8", "16", "?", "0", "5")
    rare = ("[4]", "*", "-1", "9999999999", "9223372036854775807", "9223372036854775808", "1" * 30)
    return choice.choice(common if choice.random() < 0.93 else rare)


def type_text(choice: random.Random, depth: int = 0) -> str:
    """A type, valid or nearly so."""
    roll = choice.random()
    if roll < 0.4 or depth > 2:
        return choice.choice(SCALARS[:20] if choice.random() < 0.7 else SCALARS)
    shape = "".join(f"{dimension(choice)}x" for _ in range(choice.choice((0, 1, 1, 2, 2, 3, 5))))
    element = type_text(choice, depth + 2)
    if roll < 0.55:
        return f"vector<{shape}{element}>"
    kind = "tensor" if roll < 0.75 else "memref"
    if choice.random() < 0.04:
        shape = "*x"
    extra = ""
    if choice.random() < 0.15:
        extra = f", {choice.choice(ENCODINGS)}"
    if kind == "memref" and choice.random() < 0.1:
        extra += f", {choice.choice(ENCODINGS)}"
    return f"{kind}<{shape}{element}{extra}>"


def attribute_text(choice: random.Random) -> str:
    """An attribute, valid or nearly so."""
    roll = choice.random()
    if roll < 0.2:
        return f"{number(choice)} : {choice.choice(SCALARS[:12])}"
    if roll < 0.25:
        return f"dense<{number(choice)}> : {type_text(choice)}"
    if roll < 0.3:
        return type_text(choice)
    if roll < 0.35:
        return f"[{attribute_text(choice)}, {attribute_text(choice)}]"
    return choice.choice(ATTRIBUTES)
