"""Loops whose iterations may run in any order: parallel with reductions, forall on tensors."""

from __future__ import annotations

from itertools import product

from ...ir.rewriting import constant_int
from ..index_lists import mix, split
from ..vocabulary import *
from .branches import names_in_kernel


def _points(lower: Sequence[Any], upper: Sequence[Any], step: Sequence[Any]) -> Iterable[tuple]:
    """All points of a loop nest, the last dimension fastest. Raises NncError unless steps are
    positive.
    """
    if any(int(s) <= 0 for s in step):
        raise NncError(f"the loop runs with steps {[int(s) for s in step]}")
    return product(
        *(range(int(l), int(u), int(s)) for l, u, s in zip(lower, upper, step, strict=True))
    )


def _indices(point: tuple) -> list[Any]:
    return [np.int64(i) for i in point]


class Parallel(
    Op,
    name="scf.parallel",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("scf.reduce")),
):
    """A loop nest whose iterations may run in any order; it may reduce values.

    Each result is an initial value combined, in any order, with what every iteration gives
    scf.reduce.
    Source: upstream scf.parallel.
    """

    lower: Operands = operands(Index)
    upper: Operands = operands(Index)
    step: Operands = operands(Index)
    inits: Operands = operands()
    body: RegionField = region()
    outs: Results = results()

    format = "custom<ParallelLoop>($lower, $upper, $step, $inits, type($outs), $body) attr-dict"
    example = """
        %0 = scf.parallel (%i) = (%n) to (%m) step (%s) init (%a) -> f32 {
          scf.reduce(%b : f32) {
          ^bb0(%arg0: f32, %arg1: f32):
            %1 = arith.addf %arg0, %arg1 : f32
            scf.reduce.return %1 : f32
          }
        }
    """

    @staticmethod
    def of(
        lower: Sequence[ValueLike],
        upper: Sequence[ValueLike],
        step: Sequence[ValueLike],
        inits: Sequence[ValueLike] = (),
        loc: Location = UNKNOWN,
    ) -> Parallel:
        """A loop nest with an empty body: fill `body_block` and end it with a Reduce."""
        body = Region([Block([index] * len(lower))])
        return Parallel(lower, upper, step, inits, body, loc=loc)

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The types of the initial values, which follow three operands for each dimension."""
        return operand_types[3 * len(regions[0].blocks[0].args) :]

    def block_argument_names(self, region: Region) -> list[str | None]:
        """In a kernel, the names of the induction variables."""
        return names_in_kernel(self, region.blocks[0].args)

    @property
    def induction_vars(self) -> list[BlockArgument]:
        """The body's arguments, one for each dimension."""
        return self.body_block.args

    def interpret(self, operands, frame):
        rank = len(self.lower)
        lower, upper, step = (operands[i * rank : (i + 1) * rank] for i in range(3))
        sums = list(operands[3 * rank :])
        for point in _points(lower, upper, step):
            reduce, values = frame.run_region(self.body, _indices(point))
            for i, (combine, value) in enumerate(zip(reduce.regions, values, strict=True)):
                _, (sums[i],) = frame.run_region(combine, [sums[i], value])
        return sums

    def verify_op(self) -> None:
        rank = len(self.lower)
        if not rank:
            raise self.error("needs at least one tuple element for lowerBound, upperBound and step")
        if len(self.upper) != rank or len(self.step) != rank:
            raise self.error("needs as many upper bounds and steps as lower bounds")
        for step in self.step:
            known = constant_int(step)
            if known is not None and known <= 0:
                raise self.error("constant step operand must be positive")
        if len(self.body.blocks) != 1:
            raise self.error(
                "region #0 ('region') failed to verify constraint: region with 1 blocks"
            )
        args = self.induction_vars
        if len(args) != rank:
            raise self.error(
                f"expects the same number of induction variables: {len(args)} as bound and step "
                f"values: {rank}"
            )
        if any(arg.type is not index for arg in args):
            raise self.error("expects arguments for the induction variable to be of index type")
        self._verify_reductions()

    def _verify_reductions(self) -> None:
        reduce = self.body_block.last
        assert isinstance(reduce, Reduce)
        for what, count in (
            ("reductions", len(reduce.reductions)),
            ("initial values", len(self.inits)),
        ):
            if len(self.outs) != count:
                raise self.error(
                    f"expects number of results: {len(self.outs)} to be the same as number of "
                    f"{what}: {count}"
                )
        for i, (value, out) in enumerate(zip(reduce.values, self.outs, strict=False)):
            if value.type is not out.type:
                raise reduce.error(
                    f"expects type of {i}-th reduction operand: '{value.type}' to be the same as "
                    f"the {i}-th result type: '{out.type}'"
                )


class Reduce(
    Op, name="scf.reduce", traits=(Terminator, HasParent("scf.parallel"), RecursiveEffects)
):
    """Ends the body of scf.parallel: the values to combine, with a region for each that combines
    two.

    Source: upstream scf.reduce.
    """

    values: Operands = operands()
    reductions: Sequence[Region] = region(variadic=True)

    format = "(`(` $values^ `:` type($values) `)`)? $reductions attr-dict"
    example = """
        %0 = scf.parallel (%i) = (%n) to (%m) step (%s) init (%a) -> f32 {
          scf.reduce(%b : f32) {
          ^bb0(%arg0: f32, %arg1: f32):
            %1 = arith.mulf %arg0, %arg1 : f32
            scf.reduce.return %1 : f32
          }
        }
    """

    @staticmethod
    def of(values: Sequence[ValueLike], loc: Location = UNKNOWN) -> Reduce:
        """A reduce with empty blocks (lhs, rhs): end each with a ReduceReturn."""
        types = [as_value(v).type for v in values]
        return Reduce(values, [Region([Block([t, t])]) for t in types], loc=loc)

    def verify_op(self) -> None:
        if len(self.values) != len(self.reductions):
            raise self.error(
                f"expects number of reduction regions: {len(self.reductions)} to be the same as "
                f"number of reduction operands: {len(self.values)}"
            )
        for i, (value, reduction) in enumerate(zip(self.values, self.reductions, strict=True)):
            if len(reduction.blocks) != 1:
                raise self.error(f"{i}-th reduction has an invalid number of blocks")
            if [a.type for a in reduction.block.args] != [value.type] * 2:
                raise self.error(
                    f"expected two block arguments with type '{value.type}' in the {i}-th "
                    "reduction region"
                )
            if not isinstance(reduction.block.last, ReduceReturn):
                raise self.error(
                    "reduction bodies must be terminated with an 'scf.reduce.return' op"
                )


class ReduceReturn(
    Op, name="scf.reduce.return", traits=(Pure, Terminator, HasParent("scf.reduce"))
):
    """Ends a region of scf.reduce with the combination of two values.

    Source: upstream scf.reduce.return.
    """

    value: Operand = operand()

    format = "$value attr-dict `:` type($value)"
    example = """
        %0 = scf.parallel (%i) = (%n) to (%m) step (%s) init (%a) -> f32 {
          scf.reduce(%b : f32) {
          ^bb0(%arg0: f32, %arg1: f32):
            scf.reduce.return %arg0 : f32
          }
        }
    """

    def verify_op(self) -> None:
        parent = self.parent_op
        args = self.parent.args if self.parent is not None else []
        if isinstance(parent, Reduce) and args and args[0].type is not self.value.type:
            raise self.error(f"must have type '{args[0].type}' (the type of the reduction inputs)")


class InParallel(
    Op,
    name="scf.forall.in_parallel",
    traits=(Terminator, HasParent("scf.forall"), SingleBlock, NoTerminator),
):
    """Ends the body of scf.forall: how its iterations put their parts into the results.

    Source: upstream scf.forall.in_parallel.
    """

    body: RegionField = region()

    format = "$body attr-dict"
    example = """
        %0 = scf.forall (%i) in (%n) shared_outs(%o = %t) -> (tensor<4xf32>) {
          scf.forall.in_parallel {
            tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
          }
        }
    """

    def verify_op(self) -> None:
        for op in self.body.ops:
            if op.name != "tensor.parallel_insert_slice":
                raise self.error("expected only ParallelCombiningOpInterface ops")


class Forall(
    Op,
    name="scf.forall",
    traits=(RecursiveEffects, SingleBlockImplicitTerminator("scf.forall.in_parallel")),
):
    """A loop nest whose iterations may run in any order, and fill parts of shared tensors.

    The body's arguments are the induction variables and the shared tensors; scf.forall.in_parallel
    puts the parts into them.
    Source: upstream scf.forall.
    """

    dynamic_lower: Operands = operands(Index)
    dynamic_upper: Operands = operands(Index)
    dynamic_step: Operands = operands(Index)
    staticLowerBound = attribute(INT_ARRAY)  # noqa: N815
    staticUpperBound = attribute(INT_ARRAY)  # noqa: N815
    staticStep = attribute(INT_ARRAY)  # noqa: N815
    shared: Operands = operands(AnyRankedTensor)
    mapping = attribute(ARRAY, optional=True)
    body: RegionField = region()
    outs: Results = results()

    format = (
        "custom<ForallLoop>($dynamic_lower, $staticLowerBound, $dynamic_upper, "
        "$staticUpperBound, $dynamic_step, $staticStep, $shared, type($outs), $body) attr-dict"
    )
    example = """
        scf.forall (%i, %j) = (0, %n) to (%m, 16) step (1, 4) {
          "test.use"(%i, %j) : (index, index) -> ()
        }
    """

    @staticmethod
    def of(
        lower: Sequence[int | ValueLike],
        upper: Sequence[int | ValueLike],
        step: Sequence[int | ValueLike],
        shared: Sequence[ValueLike] = (),
        loc: Location = UNKNOWN,
    ) -> Forall:
        """A loop nest with an empty body: fill `body_block` and end it with an InParallel."""
        lists = [split(bounds) for bounds in (lower, upper, step)]
        types = [as_value(v).type for v in shared]
        return Forall(
            *(values for values, _ in lists),
            *(DenseArrayAttr(i64, static) for _, static in lists),
            shared,
            None,
            Region([Block([*[index] * len(lower), *types])]),
            outs=types,
            loc=loc,
        )

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.staticLowerBound)

    @property
    def lower(self) -> list[int | Value]:
        """The lower bound of each dimension."""
        return mix(self.staticLowerBound, self.dynamic_lower)

    @property
    def upper(self) -> list[int | Value]:
        """The upper bound of each dimension, exclusive."""
        return mix(self.staticUpperBound, self.dynamic_upper)

    @property
    def step(self) -> list[int | Value]:
        """The step of each dimension."""
        return mix(self.staticStep, self.dynamic_step)

    def interpret(self, operands, frame):
        counts = [len(v) for v in (self.dynamic_lower, self.dynamic_upper, self.dynamic_step)]
        rest = iter(operands)
        dynamic = [[next(rest) for _ in range(count)] for count in counts]
        statics = (self.staticLowerBound, self.staticUpperBound, self.staticStep)
        bounds = [mix(static, values) for static, values in zip(statics, dynamic, strict=True)]
        outs = list(rest)
        shared_args = self.body_block.args[self.rank :]
        for point in _points(*bounds):
            in_parallel, _ = frame.run_region(
                self.body, [*_indices(point), *operands[sum(counts) :]]
            )
            for op in in_parallel.regions[0].ops:
                # The destination is what has been filled so far, not what the iteration saw.
                now = dict(zip(shared_args, outs, strict=True))
                given = [now[v] if v in now else frame.value(v) for v in op.operands]
                target = next(v for v in op.operands if v in now)
                outs[shared_args.index(target)] = op.evaluate(*given)
        return outs

    def verify_op(self) -> None:
        rank, block = self.rank, self.body_block
        if len(self.staticUpperBound) != rank or len(self.staticStep) != rank:
            raise self.error("expects as many upper bounds and steps as lower bounds")
        wanted = rank + len(self.shared)
        if len(block.args) != wanted:
            raise self.error(f"region expects {wanted} arguments")
        for i, arg in enumerate(block.args[:rank]):
            if arg.type is not index:
                raise self.error(f"expects {i}-th block argument to be an index")
        for i, (value, out) in enumerate(zip(self.shared, self.outs, strict=False)):
            if value.type is not out.type or block.args[rank + i].type is not out.type:
                raise self.error(f"type mismatch between {i}-th output and corresponding block arg")
        if len(self.outs) != len(self.shared):
            raise self.error(
                f"produces {len(self.outs)} results, but has only {len(self.shared)} outputs"
            )
        if self.mapping is not None and len(self.mapping) not in (0, rank):
            raise self.error("mapping attribute size must match op rank")
