"""C's table: types, operations, and vector functions that the headers here do not have."""

from __future__ import annotations

from typing import Any

from ...ir.packing import DOTS
from ..source.language import Language

_TAKEN = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while bool true false main errno NULL and or not xor class new delete
    this template namespace operator private public protected try catch throw using virtual explicit
    export friend mutable typename asm fma exp log pow sin cos tan sqrt abs erf floor ceil trunc
    round j0 j1 jn y0 y1 yn gamma index signal remove rename time div labs free malloc calloc
    realloc abort exit atexit heap pool work piece linux unix i386
"""
RESERVED = frozenset(_TAKEN.split())
"""Reserved words of C and C++, names of their libraries, and names that the generated text uses."""

SCALARS = {
    **{f"u{n}": f"uint{n}_t" for n in (8, 16, 32, 64)},
    **{f"i{n}": f"int{n}_t" for n in (8, 16, 32, 64)},
    "f32": "float",
    "f64": "double",
    "bool": "int",
    "index": "ptrdiff_t",
    "size": "size_t",
}

_INFIX = {"addf": "+", "subf": "-", "mulf": "*", "divf": "/"}
_INFIX |= {"addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^"}
_EXTENSIONS = {"extui": "", "trunci": "", "uitofp": "", "extsi": "_signed", "sitofp": "_signed"}
_TRUTH = {"addi": "!=", "subi": "!=", "xori": "!=", "andi": "&", "muli": "&", "ori": "|"}
_TRUTH |= {"minui": "&", "maxui": "|", "minsi": "|", "maxsi": "&"}
_DIVISIONS = "divsi divui remsi remui floordivsi ceildivsi ceildivui"
_INTEGERS = f"{_DIVISIONS} minsi maxsi minui maxui shli shrui shrsi"
_COUNTS = {"absi": "absi", "ctlz": "ctlz", "cttz": "cttz", "ctpop": "ctpop", "ipowi": "ipowi"}
_SAME = """
    exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh
    atanh erf erfc cbrt fma
"""
_LIBM = {
    "absf": "fabs", "ceil": "ceil", "floor": "floor", "trunc": "trunc", "round": "round",
    "roundeven": "rint", "sqrt": "sqrt", "copysign": "copysign", "powf": "pow", "atan2": "atan2",
    **{n: n for n in _SAME.split()},
}  # fmt: skip


def _templates() -> dict[str, str]:
    found = {f"arith.{name}": f"{{0}} {sign} {{1}}" for name, sign in _INFIX.items()}
    for name in ("addi", "subi", "muli"):
        sign = _INFIX[name]
        found[f"arith.{name}:wild"] = f"(ptrdiff_t)((size_t){{0}} {sign} (size_t){{1}})"
        found[f"arith.{name}:small"] = f"({{T}})((uint32_t){{0}} {sign} (uint32_t){{1}})"
    for name in ("andi", "ori", "xori"):
        found[f"arith.{name}:small"] = f"({{T}})({{0}} {_INFIX[name]} {{1}})"
    found |= {f"arith.{name}:b": f"{{0}} {sign} {{1}}" for name, sign in _TRUTH.items()}
    for name in _INTEGERS.split():
        found[f"arith.{name}"] = f"{name}_{{w}}({{0}}, {{1}})"
        found[f"arith.{name}:x"] = f"(ptrdiff_t){name}_z((size_t){{0}}, (size_t){{1}})"
        found[f"arith.{name}:v"] = f"@{name}"
    for name in _COUNTS:
        arguments = "{0}, {1}" if name == "ipowi" else "{0}"
        found[f"math.{name}"] = f"{name}_{{w}}({arguments})"
        found[f"math.{name}:v"] = f"@{name}"
    for name, function in _LIBM.items():
        count = {"fma": 3, "copysign": 2, "powf": 2, "atan2": 2}.get(name, 1)
        arguments = ", ".join(f"{{{i}}}" for i in range(count))
        found[f"math.{name}"] = f"{function}{{F}}({arguments})"
        found[f"math.{name}:v"] = f"@{name}"
    for name in ("maximum", "minimum", "maxnum", "minnum"):
        found[f"arith.{name}f"] = f"{name}_{{w}}({{0}}, {{1}})"
        found[f"arith.{name}f:v"] = f"@{name}"
    found |= {f"arith.{name}:v": f"@{{E}}_from{kind}" for name, kind in _EXTENSIONS.items()}
    for name in ("isfinite", "isinf", "isnormal"):
        found[f"math.{name}"] = f"{name}_{{w}}({{0}}) != 0"
        found[f"math.{name}:v"] = f"@{name}"
    return found


TEMPLATES = _templates() | {
    "arith.negf": "-{0}",
    "arith.remf": "fmod{F}({0}, {1})",
    "arith.remf:v": "@remf",
    "least": "{0} < {1} ? {1} : {0}",
    "least:v": "@least",
    "most": "{0} > {1} ? {1} : {0}",
    "most:v": "@most",
    "math.rsqrt": "1 / sqrt{F}({0})",
    "math.rsqrt:v": "@rsqrt",
    "math.isnan": "{0} != {0}",
    "math.clampf": "minimum_{w}(maximum_{w}({0}, {1}), {2})",
    "math.clampf:v": "@clampf",
    "math.fpowi": "({T})pow((double){0}, (double)(int32_t){1})",
    "arith.mulsi_extended": "mulhsi_{w}({0}, {1})",
    "arith.mului_extended": "mulhui_{w}({0}, {1})",
    "arith.mulsi_extended:v": "@mulhsi",
    "arith.mului_extended:v": "@mulhui",
    "cast": "({T}){0}",
    "recast": "({T}){0}",
    "lane": "{0}[{1}]",
    "any_lane": "{0}[{1}]",
    "cast:v": "NNC_CONVERT({T}, {0})",
    "odd": "odd_of_f64({0})",
    "odd:v": "@odd",
    "arith.sitofp": "({T})({I}){0}",
    "arith.sitofp:b": "({T})-{0}",
    "arith.uitofp": "({T}){0}",
    "arith.uitofp:b": "({T}){0}",
    "arith.fptosi": "({T})s{W}_of_f{w}({0})",
    "whole": "({T})({0} == {0} ? (int{W}_t){0} : INT{W}_MIN)",
    "arith.fptoui": "({T})uns{W}_of_f{w}({0})",
    "arith.fptosi:v": "({T})NNC_CONVERT({K}, {0})",
    "arith.fptoui:v": "NNC_CONVERT({T}, {0})",
    "convert": "NNC_CONVERT({T}, {0})",
    "shuffle": "({T})NNC_SHUFFLE({0}, {1}, {mask})",
    "bits": "nnc_bits({S}, {T}, {0})",
    "choose": "{0} ? {1} : {2}",
    "choose_vector": "{0} ? {1} : {2}",
    "lanes": "({T}){{{0}}}",
    "constant": "const {T} {name} = {0};",
    "variable": "{kind}{name}{start};",
    "for": "for ({kind} {name} = {low}; {first} < {last}; {name} += {step})",
    "forever": "for (;;)",
    "here": "ptrdiff_t {name} = {0}; NNC_HERE({name});",
    "function": "static {kernel}{result} {name}({parameters})",
    "kernel": "NNC_KERNEL ",
    "restrict": "restrict ",
    "pool": "const nnc_pool *",
    "heap": "nnc_heap *",
    "take": "nnc_take(heap, {})",
    "give": "nnc_give(heap, {});",
    "product": "nnc_product({}, {})",
    "least_of": "({0} < {1} ? {0} : {1})",
    "copy": "memcpy({}, {}, {});",
    "move": "memmove({}, {}, {});",
    "local": "NNC_ALIGNED {kind} {name}[{count}];",
    "prefetch": "NNC_PREFETCH({}, {}, {});",
    "global": "static NNC_ALIGNED {const}{kind} {name}[{count}] = {{\n    {values}\n}};\n",
    "task": """\
typedef struct {{
    const nnc_pool *pool; ptrdiff_t begin, end, pieces; {fields}
    int32_t status[NNC_MAX_PIECES];
}} {name}_work;
static void {name}_task(void *given, ptrdiff_t piece) {{
    {name}_work *const work = ({name}_work *)given;
    const ptrdiff_t range = work->end - work->begin;
    const ptrdiff_t begin = work->begin + range * piece / work->pieces;
    const ptrdiff_t end = work->begin + range * (piece + 1) / work->pieces;
    {before}{status}{name}(NULL, begin, end{given});{after}
}}
""",
    "heap_before": "nnc_heap heap = {{ NULL }};\n    ",
    "heap_after": "\n    nnc_end(&heap);",
    "parallel": """\
{name}_work {work} = {{ {pool}, {begin}, {end}, 0{rest}, {{ 0 }} }};
{work}.pieces = nnc_pieces({pool}, {end} - {begin}, {grain});
if ({work}.pieces > 1) {pool}->parallel_for({pool}->context, {name}_task, &{work}, {work}.pieces);
else {status}{name}({pool}, {begin}, {end}{given});""",
    "worst": "nnc_worst({work}.status, {work}.pieces > 1 ? {work}.pieces : 1);",
}

SUMMED_DOTS = {
    f"{name}_add": ("{T} a, {T} b, {T} c", f"{name}_add(a[{{i}}], b[{{i}}], c[{{i}}])")
    for name in DOTS
}
"""Dot products of words with an addition, for languages that have no other form on vectors."""

LANES = {
    **{n: ("{T} a, {T} b", f"{n}_{{w}}(a[{{i}}], b[{{i}}])") for n in (
        *_DIVISIONS.split(), "ipowi", "mulhsi", "mulhui")},
    **{n: ("{T} a", f"{n}_{{w}}(a[{{i}}])") for n in ("ctlz", "cttz", "ctpop")},
    **{n: ("{T} a", f"{f}{{F}}(a[{{i}}])") for n, f in _LIBM.items()},
    **{n: ("{T} a, {T} b", f"{_LIBM[n]}{{F}}(a[{{i}}], b[{{i}}])") for n in ("powf", "atan2")},
    "fma": ("{T} a, {T} b, {T} c", "fma{F}(a[{i}], b[{i}], c[{i}])"),
    "remf": ("{T} a, {T} b", "fmod{F}(a[{i}], b[{i}])"),
    "splat": ("{E} a", "a"),
    "gather": (
        "const {E} *p, {X} x, ptrdiff_t stride, {I} m, {T} a",
        "m[{i}] ? p[(ptrdiff_t)x[{i}] * stride] : a[{i}]",
    ),
    "maskedload": ("const {E} *p, {I} m, {T} a", "m[{i}] ? p[{i}] : a[{i}]"),
    **{n: ("{T} a, {T} b", f"{n}(a[{{i}}], b[{{i}}])") for n in DOTS},
}  # fmt: skip

_SHIFT = "(b & (uint{w}_t)({w} - 1))"
_BODIES = {
    "load": ("{T}", "const {E} *p", "{T} v = {{0}}; memcpy(&v, p, {used}); return v;"),
    "store": ("void", "{E} *p, {T} v", "memcpy(p, &v, {used});"),
    "insert": ("{T}", "{T} v, {E} x, ptrdiff_t i", "v[i] = x; return v;"),
    "select": (
        "{T}", "{I} m, {T} a, {T} b",
        "return ({T})((({U})a & ({U})m) | (({U})b & ~({U})m));",
    ),
    "maskedstore": (
        "void", "{E} *p, {I} m, {T} v", "int i; for (i = 0; i < {n}; i++) if (m[i]) p[i] = v[i];"
    ),
    "first": (
        "{I}", "ptrdiff_t count",
        "const {I} steps = {{ {steps} }}; const ptrdiff_t most = count > {n} ? {n} : count; "
        "const int{w}_t n = (int{w}_t)(most < 0 ? 0 : most); "
        "return steps < n;",
    ),
    **{f"{n}_add": ("{T}", "{T} a, {T} b, {T} c", f"return {n}_{{T}}(a, b) + c;") for n in DOTS},
    "greater": ("{T}", "{T} a, {T} b", "return select_{T}(a > b, a, b);"),
    "lesser": ("{T}", "{T} a, {T} b", "return select_{T}(a < b, a, b);"),
    "least": ("{T}", "{T} a, {T} b", "return greater_{T}(b, a);"),
    "most": ("{T}", "{T} a, {T} b", "return lesser_{T}(b, a);"),
    "maxnum": ("{T}", "{T} a, {T} b", "return select_{T}(b != b, a, greater_{T}(a, b));"),
    "minnum": ("{T}", "{T} a, {T} b", "return select_{T}(b != b, a, lesser_{T}(a, b));"),
    "maximum": (
        "{T}", "{T} a, {T} b",
        "return select_{T}((a != a) | (b != b), a + b, "
        "select_{T}(a == b, ({T})(({U})a & ({U})b), greater_{T}(a, b)));",
    ),
    "minimum": (
        "{T}", "{T} a, {T} b",
        "return select_{T}((a != a) | (b != b), a + b, "
        "select_{T}(a == b, ({T})(({U})a | ({U})b), lesser_{T}(a, b)));",
    ),
    "clampf": ("{T}", "{T} x, {T} a, {T} b", "return minimum_{T}(maximum_{T}(x, a), b);"),
    **{
        f"{name}{kind}i": (
            "{T}", "{T} a, {T} b", f"return select_{{T}}(({sign})a {test} ({sign})b, a, b);"
        )
        for name, test in (("min", "<"), ("max", ">"))
        for kind, sign in (("s", "{I}"), ("u", "{U}"))
    },
    "absi": ("{T}", "{T} a", "return select_{T}(({I})a < 0, -a, a);"),
    "shli": ("{T}", "{T} a, {T} b", f"return (a << {_SHIFT}) & ({{T}})(b < {{w}});"),
    "shrui": ("{T}", "{T} a, {T} b", f"return (a >> {_SHIFT}) & ({{T}})(b < {{w}});"),
    "shrsi": (
        "{T}", "{T} a, {T} b",
        "return ({T})(({I})a >> ({I})select_{T}(b < {w}, b, splat_{T}({w} - 1)));",
    ),
    "rsqrt": ("{T}", "{T} a", "return 1 / sqrt_{T}(a);"),
    "absf": ("{T}", "{T} a", "return ({T})(({U})a & (uint{w}_t)~((uint{w}_t)1 << ({w} - 1)));"),
    "copysign": (
        "{T}", "{T} a, {T} b",
        "const uint{w}_t top = (uint{w}_t)1 << ({w} - 1); "
        "return ({T})((({U})a & (uint{w}_t)~top) | (({U})b & top));",
    ),
    "isinf": ("{I}", "{T} a", "return (a == ({E})INFINITY) | (a == -({E})INFINITY);"),
    "isfinite": ("{I}", "{T} a", "return (a - a) == (a - a);"),
    **{f"reduce_{name}_ordered": ("{E}", "{T} a, {E} x",
        f"int i; for (i = 0; i < {{n}}; i++) x = x {sign} a[i]; return x;")
        for name, sign in (("add", "+"), ("mul", "*"))},
    "f32_of_bf16": ("{W}", "{T} a",
        "return ({W})(u32_from_{T}(a) << 16);"),
    **{
        name: (result, f"{source} a", f"{result} r = {{{{ 0 }}}}; int i; "
            f"for (i = 0; i < {{n}}; i++) r[i] = {lane}; return r;")
        for name, result, source, lane in (
            ("f32_of_f16", "{W}", "{T}", "f32_of_f16(a[i])"),
            ("f16_of_f32", "{T}", "{W}", "f16_of_f32(a[i])"),
            ("bf16_of_f32", "{T}", "{W}", "bf16_of_f32(a[i])"),
            ("odd", "{W}", "{T}", "odd_of_f64(a[i])"),
            ("isnormal", "{I}", "{T}", "isnormal(a[i]) ? -1 : 0"),
        )
    },
}  # fmt: skip

COMBINED = {
    "add": "a + b", "mul": "a * b", "and": "a & b", "or": "a | b", "xor": "a ^ b",
    "minnumf": "minnum_{T}(a, b)", "maxnumf": "maxnum_{T}(a, b)",
    "minimumf": "minimum_{T}(a, b)", "maximumf": "maximum_{T}(a, b)",
    **{n: n[:3] + n[3:] + "_{T}(a, b)" for n in ("minsi", "minui", "maxsi", "maxui")},
}  # fmt: skip


def _halves(kind: str, count: int) -> str:
    """Text that combines the lanes of `a` by folding the upper half onto the lower, repeatedly."""
    text, half = "{T} b; ", count // 2
    while half:
        order = ", ".join(str((i + half) % count) for i in range(count))
        text += f"b = ({{T}})NNC_SHUFFLE(a, a, {order}); a = {COMBINED[kind]}; "
        half //= 2
    return text + "return a[0];"


def body(name: str, words: dict[str, Any]) -> str:
    """The full definition of a function on vectors; empty for an unknown name."""
    if name.startswith("reduce_") and name not in _BODIES:
        made: tuple[str, str, str] = ("{E}", "{T} a", _halves(name[7:], words["n"]))
    elif name in _BODIES:
        made = _BODIES[name]
    elif "_from" in name:
        made = ("{R}", "{T} a", f"return NNC_CONVERT({{R}}, {'({I})' * ('signed' in name)}a);")
    else:
        parameters, lane = LANES[name]
        lanes = ", ".join(lane.format(i=i, **words) for i in range(words["n"]))
        made = ("{T}", parameters, f"return ({{T}}){{{{ {lanes} }}}};")
    if name == "first":
        words["steps"] = ", ".join(map(str, range(words["n"])))
    result, parameters, text = (part.format(**words) for part in made)
    full = words["full"]
    return f"#ifndef {full}\nNNC_INLINE {result} {full}({parameters}) {{ {text} }}\n#endif\n"


NUMBERS = {"infinity": "INFINITY", "nan": "NAN", "bits": "f{w}_of_u{w}({})"}
"""How C, and what derives from it, writes numbers that have no digits."""

C = Language(
    name="C",
    scalars=SCALARS,
    templates=TEMPLATES,
    constants={
        "wide": "{}ull",
        **NUMBERS,
        "type": "typedef {E} {T} __attribute__((vector_size({bytes})));\n",
    },
    functions=body,
    reserved=RESERVED,
)
