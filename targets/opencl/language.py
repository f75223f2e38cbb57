"""OpenCL C's table: what differs from C, whose scalar functions it shares."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...dialects import gpu
from ..c.language import COMBINED, LANES, NUMBERS, RESERVED, SCALARS, SUMMED_DOTS, TEMPLATES
from ..source.kernels import Kernels, print_with_prelude
from ..source.language import Language
from .conditions import OpenClPrinter

_FENCE = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
_OWN = """
    kernel global local constant private half uchar ushort uint ulong image2d_t image3d_t sampler_t
    event_t bool select clamp degrees max min mix radians step sign mad mad24 mul24 rotate hadd
    barrier native_exp any all dot cross distance length normalize
"""
_WORDS = {
    **{f"u{n}": name for n, name in ((8, "uchar"), (16, "ushort"), (32, "uint"), (64, "ulong"))},
    **{f"i{n}": name for n, name in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))},
}

_NOT_HERE = ("here", "heap", "take", "give", "move")
_TEMPLATES = {name: text for name, text in TEMPLATES.items() if name not in _NOT_HERE} | {
    "arith.extui:v": "convert_{T}({0})",
    "arith.extsi:v": "as_{T}(convert_{K}(as_{I}({0})))",
    "arith.trunci:v": "convert_{T}({0})",
    "recast": "as_{T}({0})",
    "bits": "as_{T}({0})",
    "lane": "{0}.s{1:x}",
    "lanes": "({T})({0})",
    "convert": "convert_{T}({0})",
    "cast:v": "convert_{T}({0})",
    "arith.sitofp:v": "convert_{T}(as_{I}({0}))",
    "arith.uitofp:v": "convert_{T}({0})",
    "arith.fptosi:v": "as_{T}(convert_{K}({0}))",
    "arith.fptoui:v": "convert_{T}({0})",
    "shuffle": "({T})({lanes})",
    "math.fpowi": "pown({0}, (int){1})",
    "prefetch": "",
    "kernel": (
        "__kernel __attribute__((reqd_work_group_size({threads}, 1, 1)))\nvoid {name}({parameters})"
    ),
    "kept": "NNC_KEPT {T} {name} = {0};",
    "memory": "__global uchar *{restrict}{name}",
    "place": "const ulong {name}",
    "word": "const long {name}",
    "status": "__global int *{name}",
    "failed": "*{0} = {1};",
    "buffer": "{kind}const {name} = ({kind})({memory} + {at});",
    "workgroup": "__local {kind} {name}[{count}] __attribute__((aligned(64)));",
    "local": "__private {kind} {name}[{count}];",
    "gpu.barrier": f"barrier({_FENCE});",
    "gpu.thread_id": "get_local_id({axis})",
    "gpu.block_id": "get_group_id({axis})",
    "gpu.block_dim": "get_local_size({axis})",
    "gpu.grid_dim": "get_num_groups({axis})",
    "gpu.global_id": "get_global_id({axis})",
    "gpu.lane_id": "get_sub_group_local_id()",
    "gpu.subgroup_id": "get_sub_group_id()",
    "gpu.num_subgroups": "get_num_sub_groups()",
    "gpu.subgroup_size": "get_sub_group_size()",
    "gpu.shuffle xor": "sub_group_shuffle_xor({0}, {1})",
    "gpu.shuffle up": "sub_group_shuffle_up({0}, {1})",
    "gpu.shuffle down": "sub_group_shuffle_down({0}, {1})",
    "gpu.shuffle idx": "sub_group_shuffle({0}, {1})",
}

_EXTREMES = {"greater": "b, a, a > b", "lesser": "b, a, a < b", "least": "a, b, a < b",
             "most": "a, b, a > b"}  # fmt: skip
_LIBRARY = [
    "fabs",
    "copysign",
    "isinf",
    "isfinite",
    "isnormal",
    "sqrt",
    "fma",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
]
_SAME = {"absf": "fabs", "roundeven": "rint"} | {name: name for name in _LIBRARY}
_BODIES: dict[str, tuple[str, str, str]] = {
    "splat": ("{T}", "{E} a", "return ({T})(a);"),
    "select": ("{T}", "{I} m, {T} a, {T} b", "return select(b, a, m);"),
    **{
        name: ("{T}", "{T} a, {T} b", f"return select({given});")
        for name, given in _EXTREMES.items()
    },
    **{
        name: (
            "{T}",
            "{T} a, {T} b",
            f"return select(select(select(b, a, a {sign} b), as_{{T}}(as_{{U}}(a) {join} "
            "as_{U}(b)), a == b), a + b, (a != a) | (b != b));",
        )
        for name, sign, join in (("maximum", ">", "&"), ("minimum", "<", "|"))
    },
    **{
        name: ("{T}", "{T} a, {T} b", f"return select(select(b, a, a {sign} b), a, b != b);")
        for name, sign in (("maxnum", ">"), ("minnum", "<"))
    },
    **{
        name: ("{T}", "{T} a, {T} b", text)
        for end in ("min", "max")
        for name, text in (
            (f"{end}ui", f"return {end}(a, b);"),
            (f"{end}si", f"return as_{{T}}({end}(as_{{I}}(a), as_{{I}}(b)));"),
        )
    },
    "absi": ("{T}", "{T} a", "return abs(as_{I}(a));"),
    "clampf": ("{T}", "{T} x, {T} a, {T} b", "return minimum_{T}(maximum_{T}(x, a), b);"),
    "rsqrt": ("{T}", "{T} a", "return 1 / sqrt(a);"),
    "insert": ("{T}", "{T} v, {E} x, long i", "(({E} *)&v)[i] = x; return v;"),
    "first": (
        "{I}",
        "long count",
        "return ({I})({steps}) < ({I})(clamp(count, 0L, {n}L));",
    ),
    "f32_of_bf16": ("{W}", "{T} a", "return as_{W}(convert_{V}(a) << 16);"),
}
_LANES = {
    name: ("{T} a, {T} b", f"{name}_{{w}}(a[{{i}}], b[{{i}}])")
    for name in ("shli", "shrui", "shrsi")
} | SUMMED_DOTS
_HALVES = {"f32_of_f16": "{W}", "f16_of_f32": "{T}", "bf16_of_f32": "{T}", "odd": "{W}"}
_POINTERS = {
    "load": ("p", "(p)[{i}]"),
    "gather": ("p, x, stride, m, a", "(m).{s} ? (p)[(long)(x).{s} * (stride)] : (a).{s}"),
    "maskedload": ("p, m, a", "(m).{s} ? (p)[{i}] : (a).{s}"),
}
_STORES = {"store": ("p, v", ""), "maskedstore": ("p, m, v", "if ((m).{s}) ")}


def _body(name: str, words: dict[str, Any]) -> str:
    """The definition of a vector function, or a macro if it accesses memory of any space."""
    lanes, full = words["n"], words["full"]
    each = [{"i": i, "s": f"s{i:x}"} for i in range(lanes)]
    if name in ("as", "convert"):
        return ""  # The type has brought them.
    whole = lanes & (lanes - 1) == 0
    if name == "load" and whole:
        return f"#define {full}(p) vload{lanes}(0, p)\n"
    if name == "store" and whole:
        return f"#define {full}(p, v) vstore{lanes}(v, 0, p)\n"
    if name in _POINTERS:
        parameters, lane = _POINTERS[name]
        texts = [lane.format(**one) for one in each] + ["0"] * (_room(lanes) - lanes)
        return f"#define {full}({parameters}) (({words['T']})({', '.join(texts)}))\n"
    if name in _STORES:
        parameters, test = _STORES[name]
        texts = [f"{test.format(**one)}(p)[{one['i']}] = (v).{one['s']};" for one in each]
        return f"#define {full}({parameters}) do {{ {' '.join(texts)} }} while (0)\n"
    if name.startswith("reduce_"):
        result, parameters, text = _reduction(name[7:], lanes)
    elif name in _SAME:
        given = {"fma": "a, b, c", "copysign": "a, b"}.get(name, "a")
        kind = "{I}" if name.startswith("is") else "{T}"
        parameters = ", ".join(f"{{T}} {one}" for one in given.split(", "))
        result, text = kind, f"return {_SAME[name]}({given});"
    elif name in _BODIES:
        result, parameters, text = _BODIES[name]
    else:
        source = "{W}" if name.endswith("_of_f32") else "{T}"
        function = "odd_of_f64" if name == "odd" else name
        known = LANES | _LANES
        parameters, lane = known.get(name, (f"{source} a", f"{function}(a[{{i}}])"))
        result = _HALVES.get(name, "{T}")
        lane = re.sub(r"\[\{i\}\]", ".{s}", lane).replace("ptrdiff_t", "long")
        text = ", ".join(lane.format(**one, **words) for one in each)
        text = f"return ({result})({text}{', 0' * (_room(lanes) - lanes)});"
    words["steps"] = ", ".join(map(str, range(_room(lanes))))
    result, parameters, text = (part.format(**words) for part in (result, parameters, text))
    return f"NNC_INLINE {result} {full}({parameters}) {{ {text} }}\n"


def _room(lanes: int) -> int:
    """The lanes of the smallest vector type that holds `lanes` lanes."""
    return 1 << (lanes - 1).bit_length()


def _reduction(kind: str, lanes: int) -> tuple[str, str, str]:
    """Parameters and body that combine the lanes of `a`: by folding halves, or in order."""
    if kind.endswith("_ordered"):
        sign = "+" if kind.startswith("add") else "*"
        text = "x" + "".join(f" {sign} a.s{i:x}" for i in range(lanes))
        return "{E}", "{T} a, {E} x", f"return {text};"
    steps, found = "", [f"a.s{i:x}" for i in range(lanes)]
    combined = COMBINED[kind].replace("{T}", "{w}")
    while len(found) > 1:
        half = -(-len(found) // 2)
        for i in range(len(found) - half):
            one = re.sub(r"\ba\b", found[i], combined)
            one = re.sub(r"\bb\b", found[i + half], one)
            steps += f"const {{E}} v{half}_{i} = {one}; "
            found[i] = f"v{half}_{i}"
        found = found[:half]
    return "{E}", "{T} a", f"{steps}return {found[0]};"


OPENCL_C = Language(
    name="OpenCL C",
    scalars=SCALARS | _WORDS,
    templates=_TEMPLATES,
    constants={
        "wide": "{}ul",
        **NUMBERS,
        "type": (
            "#define {T} {E}{n}\n#define as_{T} as_{E}{n}\n#define convert_{T} convert_{E}{n}\n"
        ),
    },
    functions=_body,
    reserved=RESERVED | frozenset(_OWN.split()),
    spaces={
        None: "__private ",
        gpu.GLOBAL: "__global ",
        gpu.WORKGROUP: "__local ",
        gpu.PRIVATE: "__private ",
    },
    ends_in_f=False,
)


def opencl_kernels(kernels: Any) -> Kernels:
    """A module of kernels as text. Raises PassError."""
    return print_with_prelude(kernels, OPENCL_C, Path(__file__).parent / "prelude.h", OpenClPrinter)
