"""Ops of stablehlo that leave the program: calls, tokens, tuples, random bits, devices."""

from __future__ import annotations

from ..vocabulary import *
from .kinds import table

OPS = table(
    """
    custom_call: A call of what only the runtime knows.
      inputs:any* !call_target_name:symbol_name -> outs:any*
    = $call_target_name `(` $inputs `)` FUNCTIONAL
    > %r = stablehlo.custom_call @foo(%x) {api_version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>

    composite: An operation that a function of the module decomposes.
      !name:string inputs:any* !decomposition:symbol !composite_attributes:any? !version:i32? ->
      outs:any*
    = $name $inputs FUNCTIONAL
    > %r = stablehlo.composite "my.op" %x {decomposition = @g} : (tensor<4xf32>) -> tensor<4xf32>

    rng_bit_generator: Random bits and the next state of their generator.
      initial_state:tensor !rng_algorithm:rng_algorithm -> output_state:tensor output:tensor
    = custom<SomeOperands>(operands) `,` `algorithm` `=` $rng_algorithm FUNCTIONAL
    > %s, %r = stablehlo.rng_bit_generator %x, algorithm = DEFAULT : (tensor<2xui64>) ->
      (tensor<2xui64>, tensor<4xui32>)

    partition_id: The number of the partition that runs the program.
      -> result:any
    = attr-dict `:` type(results)
    > %r = stablehlo.partition_id : tensor<ui32>

    replica_id: The number of the replica that runs the program.
      -> result:any
    = attr-dict `:` type(results)
    > %r = stablehlo.replica_id : tensor<ui32>

    rng: Random numbers of a distribution.
      a:tensor b:tensor shape:tensor !rng_distribution:rng_distribution -> result:tensor
    = custom<SomeOperands>(operands) `,` `distribution` `=` $rng_distribution FUNCTIONAL
    > %r = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>,
      tensor<1xi64>) -> tensor<4xf32>
    """,
)


PURE = table(
    """
    tuple: Values as one.
      values:any* -> result:tuple
    = operands attr-dict `:` custom<TupleOpType>(operands, type(results))
    > %r = stablehlo.tuple %x, %y : tuple<tensor<4xf32>, tensor<i32>>

    get_tuple_element: One value of a tuple.
      input:tuple !index:i32 -> result:any
    = $input `[` $index `]` FUNCTIONAL
    > %r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>

    create_token: A token that waits for nothing.
      -> output:token
    = attr-dict `:` type($output)
    > %t = stablehlo.create_token : !stablehlo.token

    after_all: A token that comes after all operands.
      inputs:token* -> result:token
    = operands attr-dict `:` custom<SameOperandsAndResultType>(operands, type(results))
    > %r = stablehlo.after_all %s, %t : !stablehlo.token
    """,
    Pure,
)


@PURE.verifies("tuple")
def _check_tuple(op: Any) -> None:
    type = op.result.type
    if not isinstance(type, TupleType) or list(type.types) != list(op.operand_types):
        raise op.error("result must be the tuple of the operands' types")


@PURE.verifies("get_tuple_element")
def _check_get_tuple_element(op: Any) -> None:
    type = op.input.type
    assert isinstance(type, TupleType)
    if not 0 <= op.index < len(type.types) or type.types[op.index] is not op.result.type:
        raise op.error("index and result must fit the tuple")
