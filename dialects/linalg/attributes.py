"""Attributes of the linalg dialect."""

from __future__ import annotations

from typing import ClassVar

from ..vocabulary import *


@attribute_class
class IteratorType(EnumAttr):
    """`#linalg.iterator_type<parallel>`: the kind of a loop of a structured op."""

    name: ClassVar[str] = "linalg.iterator_type"
    cases: ClassVar[tuple[str, ...]] = ("parallel", "reduction", "window")


@attribute_class
class UnaryFn(EnumAttr):
    """`#linalg.unary_fn<exp>`: a function of one scalar."""

    name: ClassVar[str] = "linalg.unary_fn"
    cases: ClassVar[tuple[str, ...]] = (
        "exp", "log", "abs", "ceil", "floor", "negf", "reciprocal", "round", "sqrt", "rsqrt",
        "square", "tanh", "erf",
    )  # fmt: skip


@attribute_class
class BinaryFn(EnumAttr):
    """`#linalg.binary_fn<add>`: a function of two scalars."""

    name: ClassVar[str] = "linalg.binary_fn"
    cases: ClassVar[tuple[str, ...]] = (
        "add", "sub", "mul", "div", "div_unsigned", "max_signed", "min_signed", "max_unsigned",
        "min_unsigned", "powf",
    )  # fmt: skip


@attribute_class
class TypeFn(EnumAttr):
    """`#linalg.type_fn<cast_signed>`: how a named op's scalars are converted."""

    name: ClassVar[str] = "linalg.type_fn"
    cases: ClassVar[tuple[str, ...]] = ("cast_signed", "cast_unsigned")


@attribute_class
class TernaryFn(EnumAttr):
    """`#linalg.ternary_fn<select>`: a function of three scalars."""

    name: ClassVar[str] = "linalg.ternary_fn"
    cases: ClassVar[tuple[str, ...]] = ("select",)


@attribute_class
class ElementwiseKind(EnumAttr):
    """`#linalg.elementwise_kind<add>`: the function of `linalg.elementwise`."""

    name: ClassVar[str] = "linalg.elementwise_kind"
    cases: ClassVar[tuple[str, ...]] = (*UnaryFn.cases, *BinaryFn.cases, *TernaryFn.cases)
