"""Text generation of com.microsoft: a decoder in a loop gives the scores of the next tokens.

A decoder of kind 0 takes tokens, their positions and the mask of all previous tokens, [B, S] and
[B, T], and caches [2, B, H, P, D], and gives scores [B, S, V] and longer caches.

Source: onnxruntime's ContribOperators.md; Keskar et al., CTRL (2019), for the repetition penalty;
Holtzman et al., The Curious Case of Neural Text Degeneration (2019), for sampling.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...common.importer import Body
from ...common.loops import Iteration, while_loop
from ...common.random import seed_of_name, uniform
from ...common.vocabulary import *
from ..inputs import value_type
from ..node import A, Node
from ..registry import converter
from .control import body
from .microsoft import DOMAIN
from .microsoft_tokens import without_repetitions

LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class Tokens:
    """The decoder's next inputs: tokens and their positions [B, S], the mask [B, T], caches."""

    ids: Term
    positions: Term
    mask: Term
    caches: Sequence[Value]

    @property
    def values(self) -> list[Value]:
        return [self.ids.value, self.positions.value, self.mask.value, *self.caches]

    @staticmethod
    def of(n: Node, values: Sequence[Value]) -> Tokens:
        ids, positions, mask = (Term(n, v) for v in values[:3])
        return Tokens(ids, positions, mask, values[3:])

    def after(self, tokens: Term, caches: Sequence[Value]) -> Tokens:
        """The next inputs after these tokens [B] were chosen."""
        last = self.positions.gather(extent(self.ids.n, (self.ids.value, 1)) - 1, 1)
        new = tokens.cast(i32).spread(0, 1)
        return Tokens(new, last.spread(0, 1) + 1, joined([self.mask, new * 0 + 1], 1), caches)

    def of_rows(self, rows: Term) -> Tokens:
        """The inputs with rows reordered."""
        ids, positions, mask = (x.gather(rows) for x in (self.ids, self.positions, self.mask))
        caches = [Term(rows.n, cache).gather(rows, 1).value for cache in self.caches]
        return Tokens(ids, positions, mask, caches)


def prompt(n: Node, ids: Term, mask: Value | None) -> Tokens:
    """The first inputs: tokens without their padding, and empty caches."""
    kind = n.int("model_type")
    if kind != 0:
        raise n.error(f"models of kind {kind} are not supported, only decoders without an encoder")
    given = ids.cast(i32)
    if mask is None:
        counts = (~given.equals(n.int("pad_token_id"))).cast(i32)
    else:
        counts = Term(n, mask).cast(i32)
    before = counts.made(nn.Cumsum(counts.value, axis=1)) - counts
    graph = n.attribute("decoder", A.GRAPH)
    caches = [_empty_cache(n, ids, value) for value in graph.input[3:]]
    return Tokens(given, before * counts, counts, caches)


def _empty_cache(n: Node, ids: Term, declared: Any) -> Value:
    """An empty cache [2, B, H, 0, D], by the declared type of a decoder's input."""
    type = value_type(declared.type, {})
    shape = type.shape if isinstance(type, TensorType) else ()
    if not isinstance(type, TensorType) or len(shape) != 5 or None in shape[::2]:
        raise n.error(f"input '{declared.name}' of the decoder is '{type}', expected a cache")
    extents = Term(n, shape_vector(n, [shape[0], (ids.value, 0), shape[2], 0, shape[4]]))
    return constant(n, 0.0, type.element_type).filled(extents).value


def scores_of(n: Node, step: Body, tokens: Tokens) -> tuple[Term, list[Value]]:
    """The scores [B, V] of the next token, and the caches."""
    if len(step.inputs) != len(tokens.values):
        raise n.error(f"the decoder has {len(step.inputs)} inputs, expected {len(tokens.values)}")
    logits, *caches = step(*tokens.values)
    scores = Term(n, logits).cast(f32).gather(extent(n, (logits, 1)) - 1, 1)
    size = n.int("vocab_size", -1)
    return (scores.part(1, 0, size) if size > 0 else scores), caches


# -- what changes scores ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """The inputs that adjust scores: the minimum length, the repetition penalty, and the masks of
    allowed tokens, [V] at all steps and [B, V] at the first one.
    """

    least: Value | None
    penalty: Value | None
    mask: Value | None
    first_mask: Value | None

    def applied(self, n: Node, scores: Term, sequences: Term, is_first: bool) -> Term:
        """Scores [B, V] of the next tokens of sequences [B, T], after the rules."""
        if self.penalty is not None:
            scores = _penalized(scores, sequences, number_of(n, self.penalty))
        if size := n.int("no_repeat_ngram_size"):
            scores = without_repetitions(sequences, scores, size, LOWEST)
        masks = (self.mask, self.first_mask if is_first else None)
        for mask in masks:
            if mask is not None:
                scores = Term(n, mask).equals(0).choose(constant(n, LOWEST, f32), scores)
        if self.least is not None:
            early = extent(n, (sequences.value, 1)) < number_of(n, self.least).cast(i64)
            tokens = counting(n, extent(n, (scores.value, 1)))
            is_end = tokens.equals(n.int("eos_token_id"))
            scores = (is_end & early).choose(constant(n, LOWEST, f32), scores)
        return scores


def number_of(n: Node, x: Value) -> Term:
    return Term(n, as_scalar(n, x))


def _penalized(scores: Term, sequences: Term, penalty: Term) -> Term:
    """Scores with a penalty for tokens already in a sequence: divided; multiplied if negative."""
    own = scores.gather_elements(sequences, 1)
    new = (own < 0.0).choose(own * penalty, own / penalty)
    return scores.made(nn.ScatterElements(scores.value, sequences.value, new.value, axis=1))


# -- one sequence each -----------------------------------------------------------------------------

Choose = Callable[[Term, Term], Term]
"""(scores [B, V], number of the step) -> tokens [B]."""


@converter("GreedySearch", domain=DOMAIN)
def greedy_search(
    n: Node,
    ids: Value,
    most: Value,
    least: Value | None = None,
    penalty: Value | None = None,
    mask: Value | None = None,
    first_mask: Value | None = None,
    attention_mask: Value | None = None,
) -> Value:
    """Greedy search, by the token with the highest score: sequences [B, most]."""

    def best(scores: Term, number: Term) -> Term:
        return scores.argmax(1)

    rules = Rules(least, penalty, mask, first_mask)
    return _searched(n, ids, most, rules, attention_mask, best)


def _searched(
    n: Node, ids: Value, most: Value, rules: Rules, mask: Value | None, choose: Choose
) -> Value:
    """Sequences [B, most], padded after the end of each one; `choose` selects tokens."""
    given = Term(n, ids)
    begun = prompt(n, given, mask)
    end, padding = n.int("eos_token_id"), n.int("pad_token_id")
    decoder = body(n, "decoder")
    limit = number_of(n, most).cast(i64)
    count = limit - extent(n, (ids, 1))

    def step(number: Term, states: Sequence[Value], decoder: Body, is_first: bool) -> list[Value]:
        sequences, ended = Term(n, states[0]), Term(n, states[1])
        tokens = Tokens.of(n, states[2:])
        scores, caches = scores_of(n, decoder, tokens)
        found = choose(rules.applied(n, scores, sequences, is_first), number).cast(i64)
        ended = ended | found.equals(end)
        found = ended.choose(padding, found)
        sequences = joined([sequences, found.spread(0, 1)], 1)
        return [sequences.value, ended.value, *tokens.after(found, caches).values]

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        after = step(Term(n, number) + 1, states, decoder, False)
        return Iteration(after, going=some(~Term(n, after[1])).value)

    none = constant(n, False).filled(Term(n, shape_vector(n, [(ids, 0)])))
    first = body(n, "init_decoder") if n.has("init_decoder") else decoder
    start = [given.cast(i64).value, none.value, *begun.values]
    states = step(constant(n, 0, i64), start, first, True)
    going = some(~Term(n, states[1]))
    states, _ = while_loop(n, iteration, states, (count - 1).value, going.value)
    return filled_up(n, Term(n, states[0]).cast(given.element), limit, padding)


def some(x: Term) -> Term:
    """Whether any element is true."""
    return x.cast(i32).largest(*range(x.rank)) > 0


def filled_up(n: Node, x: Term, length: Term, filler: int) -> Value:
    """x padded to a length along its last dimension."""
    more = (length - extent(n, (x.value, x.rank - 1))).reshape(1)
    none = constant(n, np.zeros(2 * x.rank - 1, np.int64))
    return pad_by_vector(n, x.value, joined([none, more], 0).value, n.scalar(filler, x.value))


@converter("Sampling", domain=DOMAIN)
def sampling(
    n: Node,
    ids: Value,
    most: Value,
    least: Value | None = None,
    penalty: Value | None = None,
    mask: Value | None = None,
    first_mask: Value | None = None,
    attention_mask: Value | None = None,
    presence: Value | None = None,
    seed: Value | None = None,
) -> list[Value | None]:
    """Nucleus sampling: each token is drawn from the most probable ones, up to a total `top_p`."""
    known = n.array(seed)
    number = seed_of_name(n.outputs[0]) if known is None else int(known.reshape(-1)[0])
    limit = number_of(n, most).cast(i64)
    shape = joined([limit.reshape(1), Term(n, shape_vector(n, [(ids, 0)]))], 0)
    chances = uniform(n, shape, number)

    def drawn(scores: Term, number: Term) -> Term:
        scores = _sampled(n, scores, presence)
        shares = scores.made(nn.Softmax(scores.value, axis=1))
        sums = shares.made(nn.Cumsum(shares.value, axis=1))
        total = sums.gather(extent(n, (sums.value, 1)) - 1, 1)
        chance = (chances.gather(number).cast(f32) * total).spread(0, 1)
        passed = (sums <= chance).cast(i64).sum(1)
        return passed.min(extent(n, (scores.value, 1)) - 1)

    rules = Rules(least, penalty, mask, first_mask)
    return [_searched(n, ids, most, rules, attention_mask, drawn), None]


def _sampled(n: Node, scores: Term, presence: Value | None) -> Term:
    """Scores divided by the temperature, with improbable tokens filtered out."""
    temperature, top = n.float("temperature", 1.0), n.float("top_p")
    if temperature != 1.0:
        scores = scores / temperature
    if presence is not None:
        scores = scores - Term(n, presence).cast(f32) * n.float("presence_penalty")
    if not 0.0 < top < 1.0:
        return scores
    size = extent(n, (scores.value, 1))
    values, places = (Term(n, v) for v in largest(n, scores.value, size.value, 1))
    shares = values.made(nn.Softmax(values.value, axis=1))
    before = shares.made(nn.Cumsum(shares.value, axis=1)) - shares
    kept = (before <= top) | (counting(n, size) < max(1, n.int("min_tokens_to_keep")))
    values = kept.choose(values, n.float("filter_value", -1e20))
    return scores.made(nn.ScatterElements(scores.value, places.value, values.value, axis=1))
