"""Metal Shading Language's table: what differs from C, whose scalar functions it shares."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...dialects import gpu
from ..c.language import COMBINED, LANES, NUMBERS, RESERVED, SCALARS, SUMMED_DOTS, TEMPLATES
from ..source.kernels import Kernels, print_with_prelude
from ..source.language import Language

_OWN = """
    kernel device constant thread threadgroup metal half uchar ushort uint ulong bool constexpr
    vertex fragment sampler texture select clamp max min step sign mix dot cross distance length
    normalize any all fast precise as_type simd_shuffle saturate nullptr nnc_words nnc_group
    nnc_thread explicit bfloat mesh ray_data object_data imageblock visible stitchable
"""

_NOT_HERE = ("here", "heap", "take", "give", "move")
_TEMPLATES = {name: text for name, text in TEMPLATES.items() if name not in _NOT_HERE} | {
    "recast": "nnc_as<{T}>({0})",
    "bits": "nnc_as<{T}>({0})",
    "lane": "{0}.lane[{1}]",
    "any_lane": "{0}.lane[{1}]",
    "lanes": "nnc_lanes<{T}>({0})",
    "choose_vector": "nnc_choose({0}, {1}, {2})",
    "convert": "nnc_convert<{T}>({0})",
    "cast:v": "nnc_convert<{T}>({0})",
    "arith.extui:v": "nnc_convert<{T}>({0})",
    "arith.trunci:v": "nnc_convert<{T}>({0})",
    "arith.extsi:v": "nnc_as<{T}>(nnc_convert<{K}>(nnc_as<{I}>({0})))",
    "arith.sitofp:v": "nnc_convert<{T}>(nnc_as<{I}>({0}))",
    "arith.uitofp:v": "nnc_convert<{T}>({0})",
    "arith.fptosi:v": "nnc_as<{T}>(nnc_convert<{K}>({0}))",
    "arith.fptoui:v": "nnc_convert<{T}>({0})",
    "arith.sitofp odd": "odd_of_s64((int64_t)({I}){0})",
    "arith.uitofp odd": "odd_of_u64({0})",
    "arith.sitofp odd:b": "odd_of_s64(-(int64_t){0})",
    "arith.uitofp odd:b": "odd_of_u64({0})",
    "arith.sitofp odd:v": "@odd_of_signed",
    "arith.uitofp odd:v": "@odd_of_unsigned",
    "whole": "({T})({0} == {0} ? (int{W}_t){0} : (int{W}_t)((uint{W}_t)1 << ({W} - 1)))",
    "shuffle": "nnc_lanes<{T}>({lanes})",
    "math.fpowi": "pow({0}, (float)(int32_t){1})",
    "prefetch": "",
    "restrict": "__restrict ",
    "kernel": (
        "[[kernel, max_total_threads_per_threadgroup({threads})]]\nvoid {name}({parameters})"
    ),
    "memory": "device uchar *{restrict}{name} [[buffer({number})]]",
    "words": "constant ulong *nnc_words [[buffer({number})]]",
    "status": "device int *{name} [[buffer({number})]]",
    "failed": "*{0} = {1};",
    "buffer": "{kind}const {name} = ({kind}){memory};",
    "workgroup": "threadgroup {kind} {name}[{count}] __attribute__((aligned(16)));",
    "local": "thread {kind} {name}[{count}] __attribute__((aligned(16)));",
    "gpu.barrier": "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
    "gpu.thread_id": "nnc_thread[{axis}]",
    "gpu.block_id": "nnc_group[{axis}]",
    "gpu.block_dim": "nnc_group_size[{axis}]",
    "gpu.grid_dim": "nnc_groups[{axis}]",
    "gpu.global_id": "nnc_place[{axis}]",
    "gpu.lane_id": "nnc_lane",
    "gpu.subgroup_id": "nnc_subgroup",
    "gpu.num_subgroups": "nnc_subgroups",
    "gpu.subgroup_size": "nnc_subgroup_size",
    "gpu.shuffle xor": "nnc_shuffle_xor({0}, (ushort){1})",
    "gpu.shuffle up": "nnc_shuffle_up({0}, (ushort){1})",
    "gpu.shuffle down": "nnc_shuffle_down({0}, (ushort){1})",
    "gpu.shuffle idx": "nnc_shuffle({0}, (ushort){1})",
}
_IDS = {
    "nnc_thread": "uint3 nnc_thread [[thread_position_in_threadgroup]]",
    "nnc_group": "uint3 nnc_group [[threadgroup_position_in_grid]]",
    "nnc_group_size": "uint3 nnc_group_size [[threads_per_threadgroup]]",
    "nnc_groups": "uint3 nnc_groups [[threadgroups_per_grid]]",
    "nnc_place": "uint3 nnc_place [[thread_position_in_grid]]",
    "nnc_lane": "uint nnc_lane [[thread_index_in_simdgroup]]",
    "nnc_subgroup": "uint nnc_subgroup [[simdgroup_index_in_threadgroup]]",
    "nnc_subgroups": "uint nnc_subgroups [[simdgroups_per_threadgroup]]",
    "nnc_subgroup_size": "uint nnc_subgroup_size [[threads_per_simdgroup]]",
}

_PAIRS = "minsi maxsi minui maxui shli shrui shrsi maxnum minnum maximum minimum"
_LANES = LANES | {
    **{n: ("{T} a, {T} b", f"{n}_{{w}}(a[{{i}}], b[{{i}}])") for n in _PAIRS.split()},
    "copysign": ("{T} a, {T} b", "copysign(a[{i}], b[{i}])"),
    "absi": ("{T} a", "absi_{w}(a[{i}])"),
    "select": ("{I} m, {T} a, {T} b", "m[{i}] ? a[{i}] : b[{i}]"),
    "greater": ("{T} a, {T} b", "a[{i}] > b[{i}] ? a[{i}] : b[{i}]"),
    "lesser": ("{T} a, {T} b", "a[{i}] < b[{i}] ? a[{i}] : b[{i}]"),
    "least": ("{T} a, {T} b", "a[{i}] < b[{i}] ? b[{i}] : a[{i}]"),
    "most": ("{T} a, {T} b", "a[{i}] > b[{i}] ? b[{i}] : a[{i}]"),
    "clampf": ("{T} x, {T} a, {T} b", "minimum_{w}(maximum_{w}(x[{i}], a[{i}]), b[{i}])"),
    "rsqrt": ("{T} a", "1 / sqrt(a[{i}])"),
    "first": ("ptrdiff_t count", "{i} < count ? -1 : 0"),
    "odd_of_signed": ("{T} a", "odd_of_s64((int{w}_t)a[{i}])"),
    "odd_of_unsigned": ("{T} a", "odd_of_u64(a[{i}])"),
    **{n: ("{T} a", f"-{n}_{{w}}(a[{{i}}])") for n in ("isinf", "isfinite", "isnormal")},
    **{n: ("{T} a", f"{n}(a[{{i}}])") for n in ("f32_of_f16", "f32_of_bf16")},
    **{n: ("{W} a", f"{n}(a[{{i}}])") for n in ("f16_of_f32", "bf16_of_f32")},
    **SUMMED_DOTS,
}
_RESULTS = {
    **dict.fromkeys(("first", "isinf", "isfinite", "isnormal"), "{I}"),
    **dict.fromkeys(("f32_of_f16", "f32_of_bf16", "odd_of_signed", "odd_of_unsigned"), "{W}"),
}
_READS = {
    "load": ("p", "({E})(p)[{i}]"),
    "gather": (
        "p, x, stride, m, a",
        "(m).lane[{i}] ? ({E})(p)[(ptrdiff_t)(x).lane[{i}] * (stride)] : ({E})(a).lane[{i}]",
    ),
    "maskedload": ("p, m, a", "(m).lane[{i}] ? ({E})(p)[{i}] : ({E})(a).lane[{i}]"),
}
_WRITES = {"store": ("p, v", ""), "maskedstore": ("p, m, v", "if ((m).lane[{i}]) ")}


def _body(name: str, words: dict[str, Any]) -> str:
    """The definition of a vector function, or a macro if it accesses memory of any space."""
    full, each = words["full"], [words | {"i": i} for i in range(words["n"])]
    if name in _READS:
        parameters, lane = _READS[name]
        lanes = ", ".join(lane.format(**one) for one in each)
        return f"#define {full}({parameters}) nnc_lanes<{words['T']}>({lanes})\n"
    if name in _WRITES:
        parameters, test = _WRITES[name]
        lane = f"{test}(p)[{{i}}] = (v).lane[{{i}}];"
        lanes = " ".join(lane.format(**one) for one in each)
        return f"#define {full}({parameters}) do {{ {lanes} }} while (0)\n"
    if name.startswith("reduce_"):
        result, parameters, text = _reduction(name[7:])
    elif name == "splat":
        lanes = ", ".join(["a"] * words["n"])
        result, parameters, text = "{T}", "{E} a", f"return nnc_lanes<{{T}}>({lanes});"
    elif name == "insert":
        result, parameters = "{T}", "{T} v, {E} x, ptrdiff_t i"
        text = "v.lane[i] = x; return v;"
    else:
        parameters, lane = _LANES[name]
        result = _RESULTS.get(name, "{T}")
        lane = lane.replace("[{i}]", ".lane[{i}]")
        lanes = ", ".join(lane.format(**one) for one in each)
        text = f"return nnc_lanes<{result}>({lanes});"
    result, parameters, text = (part.format(**words) for part in (result, parameters, text))
    return f"NNC_INLINE {result} {full}({parameters}) {{ {text} }}\n"


def _reduction(kind: str) -> tuple[str, str, str]:
    """Parameters and body that combine the lanes of `a`: in order, or by folding halves."""
    if kind.endswith("_ordered"):
        sign = "+" if kind.startswith("add") else "*"
        text = f"for (int i = 0; i < {{n}}; i++) x = x {sign} a.lane[i]; return x;"
        return "{E}", "{T} a, {E} x", text
    combined = COMBINED[kind].replace("{T}", "{w}")
    combined = re.sub(r"\ba\b", "a.lane[i]", combined)
    combined = re.sub(r"\bb\b", "a.lane[i + kept]", combined)
    text = (
        "for (int left = {n}, kept; left > 1; left = kept) {{ kept = (left + 1) / 2; "
        f"for (int i = 0; i < left / 2; i++) a.lane[i] = ({{E}})({combined}); }}}} "
        "return a.lane[0];"
    )
    return "{E}", "{T} a", text


METAL = Language(
    name="Metal",
    scalars={name: text for name, text in SCALARS.items() if name != "f64"},
    templates=_TEMPLATES,
    constants={
        "wide": "{}ul",
        **NUMBERS,
        "type": "typedef nnc_vector<{E}, {count}> {T};\n",
    },
    functions=_body,
    reserved=RESERVED | frozenset(_OWN.split()),
    spaces={
        None: "thread ",
        gpu.GLOBAL: "device ",
        gpu.WORKGROUP: "threadgroup ",
        gpu.PRIVATE: "thread ",
    },
    ids=_IDS,
    most_parameters=31,
    ends_in_f=False,
)


def metal_kernels(kernels: Any) -> Kernels:
    """A module of kernels as text. Raises PassError."""
    return print_with_prelude(kernels, METAL, Path(__file__).parent / "prelude.h")
