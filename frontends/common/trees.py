"""Forests of decision trees: tables of nodes, and the weights of the leaves that rows reach.

`nn.walk_trees` finds the leaves, whose weights are gathered and added. It compares integers that
are ordered as the floats are, and by `<=` only: a node that compares otherwise exchanges its
successors, or becomes two nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialects.nn.trees import Elements
from .words import *

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
NOT_MORE, LESS, NOT_LESS, MORE, EQUAL, UNEQUAL = range(6)
LEAF = len(MODES)
"""The mode of leaves. `MODES` are the comparisons, in the order of ONNX's TreeEnsemble."""


_MOST = (1 << 64) - 1
_LOWEST = -(1 << 63)
_INFINITY = 0x7FF << 52
"""The bits of infinity in f64; larger bit patterns are NaN."""


def order_keys(x: np.ndarray) -> np.ndarray:
    """Integers that, read as unsigned, are ordered as the f64 floats x; 0 for NaN."""
    bits = x.view(np.int64)
    return np.where(np.isnan(x), 0, np.where(bits < 0, 0 - bits, bits ^ _LOWEST))


@dataclass
class Forest:
    """Tables of nodes: the comparison of each node, and its successors."""

    roots: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    splits: list[float] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    missing: list[bool] = field(default_factory=list)
    """Whether each node's comparison is true for NaN."""
    successors: list[list[int]] = field(default_factory=list)
    """The next nodes of each node: [if its comparison is false, if it is true]."""
    weights: list[tuple[int, int, float]] = field(default_factory=list)
    """(leaf's node, target, weight) of each contribution to the results."""

    def add(self, feature: int, split: float, mode: int, missing: bool) -> int:
        """Add a node, which is its own successor (a leaf) at first; returns its index."""
        number = len(self.features)
        self.features.append(feature)
        self.splits.append(split)
        self.modes.append(mode)
        self.missing.append(missing)
        self.successors.append([number, number])
        return number

    def walk(self, n: Layer, x: Term) -> Walk:
        """The walks of the rows of x through the trees."""
        dtype = type_to_numpy(x.element)
        with np.errstate(over="ignore"):
            splits = np.array(self.splits, dtype).astype(np.float64)
        keys = self._ordered([int(key) for key in order_keys(splits).view(np.uint64)])
        inner = zip(self.features, self.modes, strict=True)
        count = 1 + max((feature for feature, mode in inner if mode != LEAF), default=0)
        columns = self._columns(n, x, count)
        places: dict[int, int] = {}
        nodes = self._placed(keys, count, places)
        tables = (
            np.array([split for split, _ in nodes], np.uint64).view(np.int64),
            np.array([links for _, links in nodes], np.int32).reshape(-1, 2),
            np.array([places[root] for root in self.roots], np.int32),
        )
        weights = [(places[i], at, w) for i, at, w in self.weights if i in places]
        return Walk(n, columns, [elements(n, table) for table in tables], weights, places)

    def _ordered(self, keys: list[int]) -> list[int]:
        """Turn all comparisons into `<=`, and return the keys that they compare with."""
        for i, mode in enumerate(list(self.modes)):
            if mode in (EQUAL, UNEQUAL):
                keys.append(max(keys[i] - 1, 0))
                self._as_two(i)
                continue
            if mode in (NOT_LESS, MORE):
                self.successors[i].reverse()
                self.missing[i] = not self.missing[i]
            if mode in (LESS, NOT_LESS):  # no number has the key 0
                keys[i] = max(keys[i] - 1, 0)
            if mode != LEAF:
                self.modes[i] = NOT_MORE
        return keys

    def _as_two(self, i: int) -> None:
        """Replace a node that compares by == with two: x <= split and not x < split."""
        no, yes = self.successors[i]
        if self.modes[i] == UNEQUAL:
            no, yes = yes, no
            self.missing[i] = False  # NaN is unequal to all
        second = self.add(self.features[i], self.splits[i], NOT_MORE, not self.missing[i])
        self.successors[second] = [yes, no]
        self.modes[i] = NOT_MORE
        self.successors[i] = [no, second]

    def _columns(self, n: Layer, x: Term, count: int) -> Term:
        """The keys of the features [B, count], which nodes compare; NaN has the largest integer.

        If a comparison holds for NaN, the keys plus 1 follow, of which NaN's is 0: [B, 2 * count].
        """
        features = x.shape[1]
        if features is None:
            enough = Term(n, shape_of(n, x.value)).column(1) >= count
            text = f"its input has less than {count} features"
            x = x.made(nn.Assume(x.value, enough.value, text))
        elif features < count:
            raise n.error(f"a node compares feature {count - 1}, but the input has {features}")
        if features != count:
            x = x.part(1, 0, count)
        sides = 1 + any(self.missing)
        x = x.reshape((x.value, 0), 1, count)
        wide = x.cast(f64)
        bits = wide.made(nn.Bitcast(wide.value, out=TensorType(wide.shape, i64)))
        keys = (bits < 0).choose(-bits, bits ^ _LOWEST)
        keys = ((bits & ~_LOWEST) > _INFINITY).choose(-1, keys)
        if sides == 2:
            keys = keys + constant(n, np.array([0, 1], np.int64).reshape(1, 2, 1))
        return keys.reshape((x.value, 0), sides * count)

    def _placed(
        self, keys: Sequence[int], count: int, places: dict[int, int]
    ) -> list[tuple[int, tuple[int, int]]]:
        """The nodes for `nn.walk_trees`, in which the two successors of a node are adjacent.

        `places` gets each node's index. A node that follows several others has one index; nodes
        that lead to it stand at the other ones.
        """
        table: list[tuple[int, tuple[int, int]]] = []
        for root in self.roots:
            pending = [(root, len(table))]
            table.append((_MOST, (0, 0)))
            while pending:
                number, place = pending.pop()
                own = places.setdefault(number, place)
                no, yes = self.successors[number]
                if own != place or no == yes == number:
                    table[place] = _MOST, (own, 0)
                    continue
                missing, behind = self.missing[number], len(table)
                feature = self.features[number] + count * missing
                table[place] = keys[number] + missing, (behind, feature)
                table += [(_MOST, (0, 0))] * 2
                pending += [(no, behind + 1), (yes, behind)]
        return table


@dataclass(frozen=True)
class Walk:
    """The way of rows through trees: `keys` [B, ..] are compared with the nodes in `tables`."""

    n: Layer
    keys: Term
    tables: Sequence[Elements]
    """Splits, links and roots, as `nn.walk_trees` has them."""
    weights: Sequence[tuple[int, int, float]]
    places: Mapping[int, int]
    """The index in the tables of each of the forest's nodes."""

    def totals(self, element: Type, targets: int, aggregate: str) -> Term:
        """For each target, the weights of the reached leaves, aggregated: [B, targets]."""
        dtype, (splits, _, roots) = type_to_numpy(element), self.tables
        weights = np.zeros((splits.type.shape[0] or 0, targets), dtype)
        named = np.zeros(weights.shape, np.bool_)
        combine = {"MIN": np.minimum, "MAX": np.maximum}.get(aggregate, np.add)
        for node, target, weight in self.weights:
            if not 0 <= target < targets:
                raise self.n.error(f"a leaf is for target {target}, but there are {targets}")
            known = weights[node, target]
            weights[node, target] = combine(known, weight) if named[node, target] else weight
            named[node, target] = True
        if aggregate in ("SUM", "AVERAGE"):
            total = self._sum(weights, named)
            return total / float(roots.type.shape[0] or 1) if aggregate == "AVERAGE" else total
        # Leaves that have no weight for a target do not count for it.
        sign = 1 if aggregate == "MAX" else -1
        best = np.where(named, sign * weights, -np.inf).astype(dtype)
        best = constant(self.n, best).gather(self.leaves()).largest(0)
        return best.function(nn.IsInf).choose(0.0, best * float(sign))

    def _sum(self, weights: np.ndarray, named: np.ndarray) -> Term:
        """The sums of weights; `named` says for which targets each leaf has a weight."""
        found = None
        if weights.shape[1] > 1 and named.sum(axis=1).max(initial=0) <= 1:
            found = elements(self.n, named.argmax(axis=1).astype(np.int32))
            targets, weights = weights.shape[1], weights.sum(axis=1, keepdims=True)
        else:
            targets = 1
        held = elements(self.n, weights)
        return self.keys.made(
            nn.SumTrees(self.keys.value, *self.tables, held, targets=found, count=targets)
        )

    def reached(self, targets: int) -> Term:
        """Whether a reached leaf has a weight for each target: [B, targets]."""
        named = np.zeros((self.tables[0].type.shape[0] or 0, targets), np.int64)
        for node, target, _ in self.weights:
            named[node, target] = 1
        return constant(self.n, named).gather(self.leaves()).largest(0) > 0

    def leaves(self) -> Term:
        """The leaf of each row in each tree: [T, B]."""
        return self.keys.made(nn.WalkTrees(self.keys.value, *self.tables))


def elements(n: Layer, array: np.ndarray) -> Elements:
    """An array as an attribute of an op."""
    made = constant(n, array).value.defined_by(nn.Constant)
    assert made is not None
    return made.value
