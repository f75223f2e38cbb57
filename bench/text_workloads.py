"""Texts for `bench.text`: mixed upstream ops, foldable arithmetic, a model's stages.

Random choices have a fixed seed, so the same call returns the same text.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class _Body:
    """Builds a function body: its lines, and its values by type."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0
    indent: str = "    "

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def make(self, text: str, type: str) -> str:
        """Append `%name = text`, a new value of the type."""
        name = self.name()
        self.line(f"{name} = {text}")
        self.values.setdefault(type, []).append(name)
        return name

    def any(self, type: str) -> str:
        """One of the newest values of the type."""
        return self.rng.choice(self.values[type][-8:])


VECTOR, TENSOR, MEMREF = "vector<8xf32>", "tensor<16x32xf32>", "memref<16x32xf32>"
PARAMETERS = {
    "%i": "index",
    "%a": "i32",
    "%l": "i64",
    "%x": "f32",
    "%d": "f64",
    "%p": "i1",
    "%w": VECTOR,
    "%t": TENSOR,
    "%m": MEMREF,
    "%n": "memref<?x?xf32, strided<[?, 1], offset: ?>>",
}


def _integers(b: _Body) -> None:
    type = b.rng.choice(["i32", "i64", "index"])
    op = b.rng.choice(["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "divsi", "shli"])
    b.make(f"arith.{op} {b.any(type)}, {b.any(type)} : {type}", type)


def _floats(b: _Body) -> None:
    type = b.rng.choice(["f32", "f64", VECTOR, TENSOR])
    op = b.rng.choice(["addf", "subf", "mulf", "divf", "maximumf", "minnumf"])
    flags = b.rng.choice(["", "", " fastmath<fast>", " fastmath<nnan,contract>"])
    b.make(f"arith.{op} {b.any(type)}, {b.any(type)}{flags} : {type}", type)


def _math(b: _Body) -> None:
    type = b.rng.choice(["f32", "f64", VECTOR, TENSOR])
    op = b.rng.choice(["exp", "sqrt", "absf", "tanh", "log", "sin"])
    b.make(f"math.{op} {b.any(type)} : {type}", type)
    b.make(f"math.fma {b.any(type)}, {b.any(type)}, {b.any(type)} : {type}", type)


def _constants(b: _Body) -> None:
    b.make(f"arith.constant {b.rng.randrange(1000)} : i32", "i32")
    b.make(f"arith.constant {b.rng.randrange(64)} : index", "index")
    b.make(f"arith.constant {b.rng.randrange(100)}.5 : f32", "f32")
    b.make(f"arith.constant dense<{b.rng.randrange(9)}.0> : {VECTOR}", VECTOR)


def _compare(b: _Body) -> None:
    predicate = b.rng.choice(["eq", "slt", "uge"])
    test = b.make(f"arith.cmpi {predicate}, {b.any('i32')}, {b.any('i32')} : i32", "i1")
    b.make(f"arith.cmpf {b.rng.choice(['olt', 'une'])}, {b.any('f32')}, {b.any('f32')} : f32", "i1")
    b.make(f"arith.select {test}, {b.any('f32')}, {b.any('f32')} : f32", "f32")


def _casts(b: _Body) -> None:
    b.make(f"arith.index_cast {b.any('index')} : index to i64", "i64")
    b.make(f"arith.sitofp {b.any('i32')} : i32 to f32", "f32")
    b.make(f"arith.extf {b.any('f32')} : f32 to f64", "f64")
    b.make(f"arith.extsi {b.any('i32')} : i32 to i64", "i64")


def _memory(b: _Body) -> None:
    buffer = b.name()
    b.line(f"{buffer} = memref.alloc() {{alignment = 64 : i64}} : {MEMREF}")
    b.make(f"memref.load {b.any(MEMREF)}[{b.any('index')}, {b.any('index')}] : {MEMREF}", "f32")
    b.line(f"memref.store {b.any('f32')}, {buffer}[{b.any('index')}, {b.any('index')}] : {MEMREF}")
    b.make(f"memref.dim {buffer}, {b.any('index')} : {MEMREF}", "index")
    b.line(f"memref.dealloc {buffer} : {MEMREF}")


def _views(b: _Body) -> None:
    offset = b.any("index")
    view = "memref<4x8xf32, strided<[32, 1], offset: ?>>"
    source = b.any(MEMREF)
    b.make(f"memref.subview {source}[{offset}, 0] [4, 8] [1, 1] : {MEMREF} to {view}", view)
    b.make(f"memref.load {b.any(view)}[{b.any('index')}, {offset}] : {view}", "f32")


def _memref_casts(b: _Body) -> None:
    unknown = "memref<?x?xf32>"
    b.make(f"memref.cast {b.any(MEMREF)} : {MEMREF} to {unknown}", unknown)


def _tensors(b: _Body) -> None:
    tensor = b.make(f"tensor.empty() : {TENSOR}", TENSOR)
    b.make(f"tensor.extract {tensor}[{b.any('index')}, {b.any('index')}] : {TENSOR}", "f32")
    b.make(
        f"tensor.insert {b.any('f32')} into {tensor}[{b.any('index')}, {b.any('index')}] "
        f": {TENSOR}",
        TENSOR,
    )


def _loop(b: _Body) -> None:
    """Add a loop that carries a sum, with a branch inside."""
    low, high, start = b.any("index"), b.any("index"), b.any("f32")
    k, carried, total = b.name(), b.name(), b.name()
    b.line(
        f"{total} = scf.for {k} = {low} to {high} step {low} iter_args({carried} = {start}) "
        "-> (f32) {"
    )
    outer, b.indent = b.indent, b.indent + "  "
    loaded, test, chosen, sum = b.name(), b.name(), b.name(), b.name()
    b.line(f"{loaded} = memref.load {b.any(MEMREF)}[{k}, {low}] : {MEMREF}")
    b.line(f"{test} = arith.cmpf ogt, {loaded}, {carried} : f32")
    b.line(f"{chosen} = scf.if {test} -> (f32) {{")
    b.line(f"  scf.yield {loaded} : f32")
    b.line("} else {")
    inner = b.name()
    b.line(f"  {inner} = arith.negf {loaded} : f32")
    b.line(f"  scf.yield {inner} : f32")
    b.line("}")
    b.line(f"{sum} = arith.addf {carried}, {chosen} : f32")
    b.line(f"scf.yield {sum} : f32")
    b.indent = outer
    b.line("}")
    b.values["f32"].append(total)


def _call(b: _Body) -> None:
    b.make(f"func.call @callee({b.any('f32')}, {b.any('index')}) : (f32, index) -> f32", "f32")


def _vectors(b: _Body) -> None:
    memref = "memref<?xf32>"
    if memref not in b.values:
        b.make(f"memref.alloc({b.any('index')}) : {memref}", memref)
    b.make(f"vector.load {b.any(memref)}[{b.any('index')}] : {memref}, {VECTOR}", VECTOR)
    b.make(f"vector.fma {b.any(VECTOR)}, {b.any(VECTOR)}, {b.any(VECTOR)} : {VECTOR}", VECTOR)
    b.make(f"vector.broadcast {b.any('f32')} : f32 to {VECTOR}", VECTOR)
    b.line(f"vector.store {b.any(VECTOR)}, {b.any(memref)}[{b.any('index')}] : {memref}, {VECTOR}")


def _linalg(b: _Body) -> None:
    into = b.any(TENSOR)
    b.make(f"linalg.fill ins({b.any('f32')} : f32) outs({into} : {TENSOR}) -> {TENSOR}", TENSOR)
    left, right, out = b.name(), b.name(), b.name()
    result = b.name()
    maps = ", ".join(["affine_map<(d0, d1) -> (d0, d1)>"] * 2)
    b.line(
        f"{result} = linalg.generic {{indexing_maps = [{maps}], "
        'iterator_types = ["parallel", "parallel"]} '
        f"ins({b.any(TENSOR)} : {TENSOR}) outs({into} : {TENSOR}) {{"
    )
    b.line(f"^bb0({left}: f32, {right}: f32):")
    b.line(f"  {out} = arith.addf {left}, {right} : f32")
    b.line(f"  linalg.yield {out} : f32")
    b.line(f"}} -> {TENSOR}")
    b.values[TENSOR].append(result)


KINDS: tuple[tuple[Callable[[_Body], None], int], ...] = (
    (_integers, 8),
    (_floats, 8),
    (_math, 3),
    (_constants, 3),
    (_compare, 3),
    (_casts, 3),
    (_memory, 4),
    (_views, 3),
    (_memref_casts, 1),
    (_tensors, 3),
    (_loop, 3),
    (_call, 2),
    (_vectors, 3),
    (_linalg, 2),
)
"""The functions that add operations to a body, with their frequencies."""


def upstream_ops(count: int, skip: tuple[str, ...] = (), seed: int = 1) -> str:
    """A module of about `count` upstream ops in custom form; `skip` names kinds to leave out."""
    kinds = [pair for pair in KINDS if pair[0].__name__.strip("_") not in skip]
    makers, weights = [make for make, _ in kinds], [weight for _, weight in kinds]
    rng = random.Random(seed)
    lines = ["module {", "  func.func private @callee(f32, index) -> f32"]
    made = 2
    while made < count:
        body = _Body(rng, values={type: [name] for name, type in PARAMETERS.items()})
        for make in rng.choices(makers, weights, k=30):
            make(body)
        arguments = ", ".join(f"{name}: {type}" for name, type in PARAMETERS.items())
        lines.append(f"  func.func @f{made}({arguments}) -> (f32, {VECTOR}, index) {{")
        lines += body.lines
        again = f"{body.any('f32')}, {body.any(VECTOR)}, {body.any('index')}"
        lines.append("    cf.br ^exit")
        lines.append("  ^exit:")
        lines.append(f"    return {again} : f32, {VECTOR}, index")
        lines.append("  }")
        # Operations, the function, its branch and its return; braces and headers are none.
        made += sum(not line.endswith((":", "{", "}")) or "=" in line for line in body.lines) + 3
    lines.append("}")
    return "\n".join(lines) + "\n"


def foldable(count: int, seed: int = 1) -> str:
    """A function of `count` integer operations that constants and identities reduce to few."""
    rng = random.Random(seed)
    lines = ["module {", "  func.func @fold(%x: i64) -> (i64, i64) {"]
    lines += [f"    %k{n} = arith.constant {n} : i64" for n in range(8)]
    constant, value = "%k3", "%x"
    for n in range(count - 8):
        if n % 2:
            # Constants all the way: each operation folds.
            op = rng.choice(["addi", "subi", "muli"])
            lines.append(f"    %c{n} = arith.{op} {constant}, %k{rng.randrange(2, 8)} : i64")
            constant = f"%c{n}"
        else:
            # x + 0, x - 0, x * 1: each operation goes.
            op, unit = rng.choice([("addi", 0), ("muli", 1), ("addi", 0)])
            lines.append(f"    %v{n} = arith.{op} {value}, %k{unit} : i64")
            value = f"%v{n}"
    lines += [f"    return {constant}, {value} : i64, i64", "  }", "}"]
    return "\n".join(lines) + "\n"


def _function(name: str, parameters: dict[str, str], lines: list[str], last: str, type: str) -> str:
    arguments = ", ".join(f"%{key}: tensor<{shape}xf32>" for key, shape in parameters.items())
    body = "\n".join(f"  {line}" for line in [*lines, f"return {last} : {type}"])
    return f"func.func @{name}({arguments}) -> {type} {{\n{body}\n}}\n"


def cnn(layers: int = 6) -> str:
    """A small convolutional network in the `nn` dialect: convolutions, pooling, a classifier."""
    parameters, lines = {"x": "1x3x32x32"}, []
    value, channels, size = "%x", 3, 32
    for i in range(layers):
        wide = min(64, 16 * (i // 2 + 1))
        stride = 2 if i % 2 and size > 8 else 1
        parameters[f"w{i}"], parameters[f"b{i}"] = f"{wide}x{channels}x3x3", f"{wide}"
        before = f"tensor<1x{channels}x{size}x{size}xf32>"
        size = (size + stride - 1) // stride
        after = f"tensor<1x{wide}x{size}x{size}xf32>"
        options = f"strides = array<i64: {stride}, {stride}>, pads = array<i64: 1, 1, 1, 1>"
        weight = f"tensor<{wide}x{channels}x3x3xf32>"
        lines.append(
            f"%c{i} = nn.conv {value}, %w{i}, %b{i} {{{options}}} : "
            f"({before}, {weight}, tensor<{wide}xf32>) -> {after}"
        )
        lines.append(f"%r{i} = nn.relu %c{i} : ({after}) -> {after}")
        value, channels = f"%r{i}", wide
    parameters["wf"] = f"{channels * size * size}x10"
    flat = f"tensor<1x{channels * size * size}xf32>"
    lines.append(f"%flat = nn.reshape {value} : (tensor<1x{channels}x{size}x{size}xf32>) -> {flat}")
    lines.append(
        f"%logits = nn.matmul %flat, %wf : ({flat}, tensor<{channels * size * size}x10xf32>) "
        "-> tensor<1x10xf32>"
    )
    return _function("cnn", parameters, lines, "%logits", "tensor<1x10xf32>")


def transformer(tokens: int = 32, width: int = 64) -> str:
    """A transformer block in the `nn` dialect: attention with one head, a gated product, norms."""
    square, rows = f"{width}x{width}", f"tensor<{tokens}x{width}xf32>"
    parameters = {"x": f"{tokens}x{width}", "wq": square, "wk": square, "wv": square, "wo": square}
    parameters |= {"w1": f"{width}x{4 * width}", "w2": f"{4 * width}x{width}"}
    parameters |= {"s1": f"{width}", "t1": f"{width}", "s2": f"{width}", "t2": f"{width}"}
    matrix, scores = f"tensor<{square}xf32>", f"tensor<{tokens}x{tokens}xf32>"
    turned, hidden = f"tensor<{width}x{tokens}xf32>", f"tensor<{tokens}x{4 * width}xf32>"
    vector = f"tensor<{width}xf32>"
    lines = [
        f"%{out} = nn.matmul %x, %w{out} : ({rows}, {matrix}) -> {rows}" for out in ("q", "k", "v")
    ]
    norm = f"({rows}, {vector}, {vector}) -> {rows}"
    lines += [
        f"%kt = nn.transpose %k {{permutation = array<i64: 1, 0>}} : ({rows}) -> {turned}",
        f"%qk = nn.matmul %q, %kt : ({rows}, {turned}) -> {scores}",
        f"%p = nn.softmax %qk {{axis = 1 : i64}} : ({scores}) -> {scores}",
        f"%pv = nn.matmul %p, %v : ({scores}, {rows}) -> {rows}",
        f"%o = nn.matmul %pv, %wo : ({rows}, {matrix}) -> {rows}",
        f"%r1 = nn.add %o, %x : ({rows}, {rows}) -> {rows}",
        f"%n1 = nn.layer_norm %r1, %s1, %t1 {{axis = 1 : i64}} : {norm}",
        f"%h = nn.matmul %n1, %w1 : ({rows}, tensor<{width}x{4 * width}xf32>) -> {hidden}",
        f"%g = nn.relu %h : ({hidden}) -> {hidden}",
        f"%d = nn.matmul %g, %w2 : ({hidden}, tensor<{4 * width}x{width}xf32>) -> {rows}",
        f"%r2 = nn.add %d, %n1 : ({rows}, {rows}) -> {rows}",
        f"%n2 = nn.layer_norm %r2, %s2, %t2 {{axis = 1 : i64}} : {norm}",
    ]
    return _function("block", parameters, lines, "%n2", rows)
