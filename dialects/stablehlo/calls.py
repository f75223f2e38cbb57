"""Ops of stablehlo that leave the program: calls, tokens, tuples, random bits, devices."""

from __future__ import annotations

from typing import Any

from ...ir.constraints import AnyTensor, AnyType
from ...ir.declare import (
    ANY,
    I32,
    STRING,
    SYMBOL,
    SYMBOL_NAME,
    Op,
    Operand,
    Operands,
    Result,
    Results,
    attribute,
    operand,
    operands,
    result,
    results,
)
from ...ir.traits import Pure
from ...ir.types import TupleType
from .attributes import RNG_ALGORITHM, AnyToken, AnyTuple

FUNCTIONAL = "attr-dict `:` functional-type(operands, results)"


class CustomCall(Op, name="stablehlo.custom_call"):
    """A call of what only the runtime knows."""

    inputs: Operands = operands()
    call_target_name = attribute(SYMBOL_NAME)
    outs: Results = results()

    format = f"$call_target_name `(` $inputs `)` {FUNCTIONAL}"
    example = (
        "%r = stablehlo.custom_call @foo(%x) {api_version = 2 : i32} : "
        "(tensor<4xf32>) -> tensor<4xf32>"
    )


class Composite(Op, name="stablehlo.composite"):
    """An operation that a function of the module decomposes."""

    composite_name = attribute(STRING, key="name")
    inputs: Operands = operands()
    decomposition = attribute(SYMBOL)
    composite_attributes: Any = attribute(ANY, optional=True)
    version: Any = attribute(I32, optional=True)
    outs: Results = results()

    format = f"$name $inputs {FUNCTIONAL}"
    example = (
        '%r = stablehlo.composite "my.op" %x {decomposition = @g} : '
        "(tensor<4xf32>) -> tensor<4xf32>"
    )


class RngBitGenerator(Op, name="stablehlo.rng_bit_generator"):
    """Random bits and the next state of their generator."""

    initial_state: Operand = operand(AnyTensor)
    rng_algorithm = attribute(RNG_ALGORITHM)
    output_state: Result = result(AnyTensor)
    output: Result = result(AnyTensor)

    format = f"custom<SomeOperands>(operands) `,` `algorithm` `=` $rng_algorithm {FUNCTIONAL}"
    example = (
        "%s, %r = stablehlo.rng_bit_generator %x, algorithm = DEFAULT : "
        "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)"
    )

    def result_names(self) -> list[str]:
        """As upstream."""
        return ["output_state", "output"]


class Tuple(Op, name="stablehlo.tuple", traits=(Pure,)):
    """Values as one."""

    values: Operands = operands()
    result: Result = result(AnyTuple)

    format = "operands attr-dict `:` custom<TupleOpType>(operands, type(results))"
    example = "%r = stablehlo.tuple %x, %y : tuple<tensor<4xf32>, tensor<i32>>"

    def verify_op(self) -> None:
        type = self.result.type
        if not isinstance(type, TupleType) or list(type.types) != list(self.operand_types):
            raise self.error("result must be the tuple of the operands' types")


class GetTupleElement(Op, name="stablehlo.get_tuple_element", traits=(Pure,)):
    """One value of a tuple."""

    input: Operand = operand(AnyTuple)
    index = attribute(I32)
    result: Result = result()

    format = f"$input `[` $index `]` {FUNCTIONAL}"
    example = "%r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>"

    def verify_op(self) -> None:
        type = self.input.type
        assert isinstance(type, TupleType)
        if not 0 <= self.index < len(type.types) or type.types[self.index] is not self.result.type:
            raise self.error("index and result must fit the tuple")


class CreateToken(Op, name="stablehlo.create_token", traits=(Pure,)):
    """A token that waits for nothing."""

    output: Result = result(AnyToken)

    format = "attr-dict `:` type($output)"
    example = "%t = stablehlo.create_token : !stablehlo.token"


class AfterAll(Op, name="stablehlo.after_all", traits=(Pure,)):
    """A token that comes after all operands."""

    inputs: Operands = operands(AnyToken)
    result: Result = result(AnyToken)

    format = "operands attr-dict `:` custom<SameOperandsAndResultType>(operands, type(results))"
    example = "%r = stablehlo.after_all %s, %t : !stablehlo.token"


class PartitionId(Op, name="stablehlo.partition_id"):
    """The number of the partition that runs the program."""

    result: Result = result(AnyType)

    format = "attr-dict `:` type(results)"
    example = "%r = stablehlo.partition_id : tensor<ui32>"


class ReplicaId(Op, name="stablehlo.replica_id"):
    """The number of the replica that runs the program."""

    result: Result = result(AnyType)

    format = "attr-dict `:` type(results)"
    example = "%r = stablehlo.replica_id : tensor<ui32>"
