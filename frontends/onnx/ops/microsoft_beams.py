"""Beam search of com.microsoft: several sequences per batch element, of which the best are kept.

Source: onnxruntime's ContribOperators.md; Wolf et al., Transformers (2020), whose search it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...common.importer import Body
from ...common.loops import Iteration, while_loop
from ...common.vocabulary import *
from ..node import Node
from ..registry import converter
from .control import body
from .microsoft import DOMAIN
from .microsoft_generation import Rules, Tokens, filled_up, number_of, prompt, scores_of, some

UNLIKELY = -1e9
"""The initial score of all beams but the first, since all start with the same tokens."""


@dataclass(frozen=True)
class Found:
    """The best finished sequences [B, K, most], their scores [B, K], and which searches are done
    [B].

    A score is -inf if there is no sequence yet.
    """

    sequences: Term
    scores: Term
    done: Term

    def with_candidates(self, sequences: Term, scores: Term) -> Found:
        """The best of these sequences and of candidates [B, C, most]."""
        n = scores.n
        all_scores = joined([self.scores, scores], 1)
        count = extent(n, (self.scores.value, 1))
        best, places = (Term(n, v) for v in largest(n, all_scores.value, count.value, 1))
        whole = joined([self.sequences, sequences], 1)
        return Found(_of_places(whole, places), best, self.done)


@dataclass(frozen=True)
class Beams:
    """The search: `width` is a tensor with one element per beam [K]."""

    n: Node
    width: Term
    most: Term
    penalty: Value | None
    rules: Rules

    def apart(self, x: Term) -> Term:
        """[B * K, ..] as [B, K, ..]."""
        n = self.n
        rows = extent(n, (x.value, 0)) / extent(n, (self.width.value, 0))
        batch = counting(n, rows)
        own = [(x.value, i) for i in range(1, x.rank)]
        return x.reshape((batch.value, 0), (self.width.value, 0), *own)

    def rated(self, scores: Term, sequences: Term) -> Term:
        """Scores normalized by the length of the sequences [.., T]."""
        length = extent(self.n, (sequences.value, sequences.rank - 1)).cast(f32)
        power = 1.0 if self.penalty is None else number_of(self.n, self.penalty)
        return scores / (length**power)

    def step(
        self, decoder: Body, states: Sequence[Value], is_first: bool
    ) -> tuple[list[Value], Value]:
        """The next states, and the scores of all tokens [B, K, V]."""
        n = self.n
        sequences, sums = Term(n, states[0]), Term(n, states[1])
        found = Found(*(Term(n, v) for v in states[2:5]))
        tokens = Tokens.of(n, states[5:])
        logits, caches = scores_of(n, decoder, tokens)
        scores = logits.made(nn.LogSoftmax(logits.value, axis=1))
        scores = self.apart(self.rules.applied(n, scores, sequences, is_first) + sums.spread(0, 1))
        size = extent(n, (scores.value, 2))
        count = extent(n, (self.width.value, 0))
        flat = scores.flattened(1)
        best, places = (Term(n, v) for v in largest(n, flat.value, (count * 2).value, 1))
        beam, token = places / size, places % size
        ends = token.equals(n.int("eos_token_id"))
        rank = counting(n, count * 2)
        found = self._ended(found, sequences, best, beam, ends & (rank < count))
        # There are at most K ends among 2 K tokens, one of each beam.
        _, going = largest(n, (ends.cast(i64) * count * 2 + rank).value, count.value, 1, False)
        best, beam, token = (_of_places(x, Term(n, going)) for x in (best, beam, token))
        idle = found.done.spread(0, 1)
        token, best = idle.choose(n.int("pad_token_id"), token), idle.choose(0.0, best)
        batch = counting(n, extent(n, (beam.value, 0))).spread(0, 1)
        rows, token = (batch * count + beam).flat(), token.flat()
        sequences = joined([sequences.gather(rows), token.spread(0, 1)], 1)
        moved = Tokens(tokens.ids, tokens.positions, tokens.mask, caches).of_rows(rows)
        after = [sequences, best.flat(), found.sequences, found.scores, found.done]
        following = moved.after(token, moved.caches).values
        return [*(x.value for x in after), *following], scores.value

    def _ended(self, found: Found, sequences: Term, best: Term, beam: Term, ends: Term) -> Found:
        """The found sequences with the candidates [B, 2 K] that end here; searches then done."""
        n = self.n
        is_new = ends & ~found.done.spread(0, 1)
        scores = is_new.choose(self.rated(best, sequences), -math.inf)
        candidates = _of_places(self.apart(self.whole(sequences)), beam)
        after = found.with_candidates(candidates, scores)
        worst = -(-after.scores).largest(1)
        enough = worst > -math.inf
        if not n.int("early_stopping"):
            enough = enough & (worst >= self.rated(best.column(0, 1), sequences))
        return Found(after.sequences, after.scores, found.done | enough)

    def whole(self, sequences: Term) -> Term:
        """Sequences padded to the largest number of tokens."""
        return Term(self.n, filled_up(self.n, sequences, self.most, self.n.int("pad_token_id")))


def _of_places(x: Term, places: Term) -> Term:
    """For each row of x [B, C, ..], the elements at indices [B, P]."""
    return x.gather_nd(places.spread(0, 1), 1)


@converter("BeamSearch", domain=DOMAIN)
def beam_search(
    n: Node,
    ids: Value,
    most: Value,
    least: Value | None,
    width: Value,
    returned: Value,
    length_penalty: Value | None = None,
    penalty: Value | None = None,
    mask: Value | None = None,
    first_mask: Value | None = None,
    attention_mask: Value | None = None,
    decoder_ids: Value | None = None,
    processor: Value | None = None,
) -> list[Value | None]:
    """The best sequences [B, R, most], their scores [B, R], and all tokens' scores at each step.

    There is only a decoder, which starts with `ids`, and no logits processor.
    """
    kind = n.known(processor)
    if kind is not None and kind.any():
        raise n.error("logits processors are not supported")
    limit = number_of(n, most).cast(i64)
    beams = counting(n, number_of(n, width).cast(i64))
    search = Beams(n, beams, limit, length_penalty, Rules(least, penalty, mask, first_mask))
    decoder = body(n, "decoder")
    first = body(n, "init_decoder") if n.has("init_decoder") else decoder
    start, given = _start(search, ids, attention_mask)
    states, scores = search.step(first, start, True)

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        after, scores = search.step(decoder, states, False)
        return Iteration(after, [scores], some(~Term(n, after[4])).value)

    count = limit - extent(n, (ids, 1)) - 1
    going = some(~Term(n, states[4])).value
    states, (rest,) = while_loop(n, iteration, states, count.value, going)
    sequences, sums = Term(n, states[0]), Term(n, states[1])
    found = Found(*(Term(n, v) for v in states[2:5]))
    open_ = found.done.spread(0, 1).choose(-math.inf, search.apart(search.rated(sums, sequences)))
    found = found.with_candidates(search.apart(search.whole(sequences)), open_)
    kept = counting(n, number_of(n, returned).cast(i64))
    out = found.sequences.gather(kept, 1).cast(given.element)
    every = joined([Term(n, scores).spread(1, 0), Term(n, rest)], 0) if n.wants(2) else None
    return [
        out.value,
        found.scores.gather(kept, 1).value,
        None if every is None else every.value,
    ]


def _start(search: Beams, ids: Value, mask: Value | None) -> tuple[list[Value], Term]:
    """The states before the first step, and the given tokens."""
    n, given = search.n, Term(search.n, ids)
    batch = counting(n, extent(n, (ids, 0)))
    rows = (batch.spread(0, 1) + search.width * 0).flat()
    begun = prompt(n, given, mask).of_rows(rows)
    sums = search.width.equals(0).choose(constant(n, 0.0, f32), UNLIKELY)
    sums = (batch.cast(f32).spread(0, 1) * 0.0 + sums).flat()
    sequences = given.cast(i64).gather(rows)
    none = constant(n, -math.inf, f32)
    extents = [(batch.value, 0), (search.width.value, 0)]
    empty = search.apart(search.whole(sequences))
    found = [
        empty,
        none.filled(Term(n, shape_vector(n, extents))),
        constant(n, False).filled(Term(n, shape_vector(n, extents[:1]))),
    ]
    return [v.value for v in (sequences, sums, *found)] + begun.values, given
