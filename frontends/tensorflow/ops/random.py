"""Random numbers from seeds and counters, with the same bits as TensorFlow's on CPUs.

Operators without a seed use a fixed one, so that each run draws the same numbers.
"""

from __future__ import annotations

from ...common.philox import Stream, classes, integers, normal, truncated_normal, u64, uniform
from ...common.random import seed_of_name
from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..ragged import number, term64

THREEFRY = 2

Draw = Callable[[Stream, Term, Any], Term]
_REAL: dict[str, Draw] = {
    "RandomUniform": uniform,
    "RandomNormal": normal,
    "TruncatedNormal": truncated_normal,
}


def stateless(draw: Draw) -> Callable[..., Value]:
    """A converter of operators with a seed operand, or with key, counter and algorithm."""

    def convert(n: TfLayer, shape: Value, *given: Value) -> Value:
        element = n.element("dtype") if n.has("dtype") else f32
        return draw(_stream(n, given), term64(n, shape), element).value

    return convert


def _stream(n: TfLayer, given: Sequence[Value]) -> Stream:
    if len(given) == 1:
        return Stream.of_seed(n, given[0])
    if len(given) != 3:
        raise n.error(f"{len(given) + 1} inputs, expected a seed, or a key, a counter and a number")
    key, counter, algorithm = given
    if n.known_int(algorithm, "the algorithm") == THREEFRY:
        raise n.error("ThreeFry is not supported, as in TensorFlow on processors")
    parts = Term(n, counter)
    return Stream(Term(n, key).column(0, 0), parts.column(0, 0), parts.column(1, 0))


def stateful(draw: Draw) -> Callable[..., Value]:
    """A converter of operators with both halves of a seed as attributes."""

    def convert(n: TfLayer, shape: Value) -> Value:
        return draw(_of_attributes(n), term64(n, shape), n.element("dtype")).value

    return convert


def _of_attributes(n: TfLayer) -> Stream:
    seeds = n.int("seed", 0), n.int("seed2", 0)
    if seeds == (0, 0):
        seeds = (seed_of_name(n.node.name), 0)
    return Stream.of_numbers(n, seeds[0], 0, seeds[1])


for _name, _draw in _REAL.items():
    _own = _name if _name != "RandomNormal" else "RandomStandardNormal"
    rows.add({f"Stateless{_name}": stateless(_draw), f"Stateless{_name}V2": stateless(_draw)})
    rows.add({_own: stateful(_draw)})


@rows("StatelessRandomUniformInt", "StatelessRandomUniformIntV2")
def uniform_integers(n: TfLayer, shape: Value, *given: Value) -> Value:
    *seed, low, high = given
    limits = Term(n, low), Term(n, high)
    return integers(_stream(n, seed), term64(n, shape), low.type.element_type, *limits).value


@rows("RandomUniformInt")
def random_integers(n: TfLayer, shape: Value, low: Value, high: Value) -> Value:
    stream, limits = _of_attributes(n), (Term(n, low), Term(n, high))
    return integers(stream, term64(n, shape), low.type.element_type, *limits).value


@rows("StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2")
def all_integers(n: TfLayer, shape: Value, *given: Value) -> Value:
    element = n.element("dtype") if n.has("dtype") else u64
    return integers(_stream(n, given), term64(n, shape), element, None, None).value


@rows("StatelessMultinomial")
def drawn(n: TfLayer, logits: Value, count: Value, seed: Value) -> Value:
    return _classes(n, Stream.of_seed(n, seed), logits, count)


@rows("Multinomial")
def drawn_by_attributes(n: TfLayer, logits: Value, count: Value) -> Value:
    return _classes(n, _of_attributes(n), logits, count)


def _classes(n: TfLayer, stream: Stream, logits: Value, count: Value) -> Value:
    element = n.element("output_dtype") if n.has("output_dtype") else i64
    return classes(stream, Term(n, logits), number(n, count), element).value


# -- keys ------------------------------------------------------------------------------------------


@rows("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg")
def key_and_counter(n: TfLayer, seed: Value) -> list[Value]:
    """A key, a counter, and the algorithm for them."""
    found = Stream.of_seed(n, seed)
    counter = joined([found.low.reshape(1), found.high.reshape(1)], 0)
    return [found.key.reshape(1).value, counter.value, n.constant(1, i32)]


rows.add({"StatelessRandomGetAlg": lambda n: n.constant(1, i32)})
