"""Pipelines as text, options, anchors, and the greedy driver's bounds."""

from dataclasses import dataclass

import pytest
from nnc.ir.core import Block, Operation, Region, UnregisteredOp
from nnc.ir.diagnostics import NncError, PassError
from nnc.ir.passes import Pass, PassContext, PassManager, option
from nnc.ir.pipeline_text import parse_pipeline
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
        "builtin.module(t.func(test-count{flags={1,2,3} on=true}))",
    ],
)
def test_pipeline_text_is_read_and_printed(text: str) -> None:
    assert parse_pipeline(text, lookup).text() == text


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ("flags={1,2} on", Count(flags=(1, 2), on=True)),
        ('flags="1,2" mode=b', Count(flags=(1, 2), mode="b")),
        ("factor='3'", Count(factor=3)),
        ("  factor=3\n  on=0 ", Count(factor=3)),
    ],
)
def test_values_may_stand_in_braces_and_quotes(options: str, made: Count) -> None:
    assert parse_pipeline(f"builtin.module(test-count{{{options}}})", lookup).steps == (made,)


def test_an_error_points_to_its_column() -> None:
    with pytest.raises(NncError) as caught:
        parse_pipeline("builtin.module(t.func(test-count),nope)", lookup, known=lambda: ["nopes"])
    first, text, caret = str(caught.value).split("\n")
    assert first.startswith("<pass pipeline>:1:35: error: 'nope' does not refer")
    assert first.endswith("did you mean 'nopes'?")
    assert text[caret.index("^") :].startswith("nope)")


def test_an_anchor_may_be_asked_for() -> None:
    assert parse_pipeline("any(test-count)", lookup, wrapped=True).anchor is None
    for text in ("test-count", "", "test-count,t.func(test-count)"):
        with pytest.raises(NncError, match="expected pass pipeline to be wrapped with the anchor"):
            parse_pipeline(text, lookup, wrapped=True)


def test_a_pass_runs_on_its_anchors_inside_a_module() -> None:
    manager = PassManager(parse_pipeline("builtin.module(test-count,twice)", lookup))
    manager.run(module("t.func", "t.other", "t.func"))
    assert manager.context.statistics == {"test-count": {"ops": 2 * (1 + 1 + 2)}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module(nope)", "'nope' does not refer to a registered pass or pass pipeline"),
        ("builtin.module(test-count", "encountered unbalanced parentheses while parsing pipeline"),
        ("builtin.module(test-count{factor=x})", "option 'factor' takes int; found 'x'"),
        (
            f"builtin.module(test-count{{factor={1 << 63}}})",
            "'factor' takes a number of at most 64",
        ),
        ("builtin.module(test-count{mode=c})", "one of a, b; found 'c'"),
        ("builtin.module(test-count{nope=1})", "has no option 'nope'; it has: factor, mode"),
        (
            "builtin.module(test-count{factor=1)",
            "missing closing '}' while processing pass options",
        ),
        ("builtin.module(test-count{flags={1,2)", "missing closing '}'"),
        ("builtin.module(test-count{mode='a)", "this quote is never closed"),
        ("builtin.module(twice{x=1})", "takes no options"),
        ("test-count)", r"encountered extra closing '\)'"),
        ("(x)", r"expected the name of an operation before '\('"),
        ("builtin.module(twice,)", "'' does not refer to a registered pass"),
        ("builtin.module(t.func(test-count)twice)", "expected ',' after parsing pipeline"),
        ("builtin.module(t.other(twice))", "Can't add pass 'Count' restricted to 't.func' on"),
        ("builtin.module(t.other(test-count))", "Can't add pass 'Count' restricted to 't.func' on"),
    ],
)
def test_faulty_pipelines(text: str, message: str) -> None:
    with pytest.raises(NncError, match=message):
        parse_pipeline(text, lookup)


def test_the_wrong_anchor_is_an_error() -> None:
    with pytest.raises(PassError, match=r"can't run 't\.func' pass manager on 'builtin\.module'"):
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
