"""Random bits of XLA's generator Philox, which are a function of its state, a key and a counter."""

from __future__ import annotations

from ...common.philox import Stream, u64
from ...common.vocabulary import *
from ..layer import HloLayer, rows


@rows("stablehlo.rng_bit_generator")
def rng_bit_generator(n: HloLayer, state: Value) -> list[Value]:
    """The next state, and random integers. As in JAX, a state is two words of 64 bits.

    They are the key, which is also the high half of the counter, and the counter's low half.
    """
    out, words = n.out(1), Term(n, state)
    element = out.element_type
    if n.op.rng_algorithm == "THREE_FRY" or words.shape != (2,) or words.element != u64:
        raise n.error("expected the generator Philox and a state of 2 words of 64 bits")
    if None in out.shape or not isinstance(element, IntegerType):
        raise n.error(f"'{out}': expected integers of a known shape")
    count = math.prod(d or 0 for d in out.shape)
    each = 2 if element.width == 64 else 1
    key, first = words.part(0, 0, 1), words.part(0, 1, 2)
    found = Stream(key, first, key).words(constant(n, count, i64), each)
    bits = found.column(0) | (found.column(1) << 32) if each == 2 else found.column(0)
    following = joined([key, first + -(-count * each // 4)], 0)
    return [following.value, bits.cast(element).reshape(*out.shape).value]
