"""Pipelines as text, options, anchors, and the greedy driver's bounds."""

from dataclasses import dataclass

import pytest
from nnc.ir.core import Block, Operation, Region, UnregisteredOp
from nnc.ir.diagnostics import NncError, PassError
from nnc.ir.passes import Pass, PassContext, PassManager, option, parse_pipeline
from nnc.ir.rewriting import Rewriter, apply_greedily, apply_once, rewrite


@dataclass(frozen=True)
class Count(Pass, name="test-count", anchor="t.func"):
    """Counts the operations it runs on."""

    factor: int = option(1, help="what each counts for")
    mode: str = option("a", help="a or b", choices=("a", "b"))
    flags: tuple[int, ...] = option((), help="numbers")
    on: bool = option(False, help="a switch")

    def run(self, op: Operation, context: PassContext) -> None:
        context.statistic("ops", self.factor)


def lookup(name: str):
    return {"test-count": Count, "twice": [Count(), Count(factor=2)]}.get(name)


def module(*names: str) -> Operation:
    block = Block([], [UnregisteredOp.named(n) for n in names])
    return UnregisteredOp.named("builtin.module", regions=[Region([block])])


@pytest.mark.parametrize(
    "text",
    [
        "builtin.module(test-count)",
        "builtin.module(test-count{factor=3 mode=b},test-count)",
        "builtin.module(t.func(test-count{flags=1,2,3 on=true}))",
    ],
)
def test_pipeline_text_is_read_and_printed(text: str) -> None:
    assert parse_pipeline(text, lookup).text() == text


def test_a_pass_runs_on_its_anchors_inside_a_module() -> None:
    manager = PassManager(parse_pipeline("builtin.module(test-count,twice)", lookup))
    manager.run(module("t.func", "t.other", "t.func"))
    assert manager.context.statistics == {"test-count": {"ops": 2 * (1 + 1 + 2)}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module(nope)", "no pass or pipeline is named 'nope'"),
        ("builtin.module(test-count", r"this '\(' is never closed"),
        ("builtin.module(test-count{factor=x})", "option 'factor' takes int; found 'x'"),
        ("builtin.module(test-count{mode=c})", "one of a, b; found 'c'"),
        ("builtin.module(test-count{nope=1})", "has no option 'nope'; it has: factor, mode"),
        ("builtin.module(test-count{factor=1)", r"is never closed"),
        ("builtin.module(twice{x=1})", "takes no options"),
        ("test-count)", r"unexpected '\)'"),
        ("(x)", "expected a pass name"),
    ],
)
def test_faulty_pipelines(text: str, message: str) -> None:
    with pytest.raises(NncError, match=message):
        parse_pipeline(text, lookup)


def test_the_wrong_anchor_is_an_error() -> None:
    with pytest.raises(PassError, match=r"can't run 't\.func' pass pipeline on 'builtin\.module'"):
        PassManager(parse_pipeline("t.func(test-count)", lookup)).run(module())


@rewrite()
def ping(op: Operation, rewriter: Rewriter) -> None:
    """t.ping -> t.pong"""
    if op.name == "t.ping":
        rewriter.replace(op, UnregisteredOp.named("t.pong"))


@rewrite()
def pong(op: Operation, rewriter: Rewriter) -> None:
    """t.pong -> t.ping"""
    if op.name == "t.pong":
        rewriter.replace(op, UnregisteredOp.named("t.ping"))


def test_rules_that_cycle_are_named() -> None:
    with pytest.raises(PassError, match=r"does not end.*'p[io]ng' \(\d+ times\), 'p[io]ng'"):
        apply_greedily(module("t.ping"), [ping, pong])


def test_apply_once_looks_at_each_operation_once() -> None:
    root = module("t.ping", "t.pong")
    assert apply_once(root, [ping, pong])
    assert [op.name for op in root.body_block] == ["t.pong", "t.ping"]


def test_a_rewrite_needs_its_rule_in_words() -> None:
    with pytest.raises(TypeError, match="docstring"):

        @rewrite()
        def nameless(op: Operation, rewriter: Rewriter) -> None: ...
