"""The levels of 64-bit x86: code for one runs on any processor of that or a higher level."""

from __future__ import annotations

from dataclasses import replace

from ...ir.packing import HALVES
from ...runtime.systems import MACOS, WINDOWS
from ..costs import Costs, LoopCosts, OperationCosts, TileCosts
from ..emulator import Emulator, Wine
from ..llvm.dots import Dot
from ..llvm.target import LlvmTarget
from ..processor import Processor, TileRegisters
from .names import X86_NAMES
from .servers import SERVER_L2_BANDWIDTH, SERVER_L3_BANDWIDTH, SERVER_OPERATIONS, SERVER_TILES

_AVX512 = Processor(
    vector_bits=512,
    vector_registers=32,
    full_width_units=1,
    unit_bits=256,
    fma_latency=4,
    loads_per_cycle=2,
    load_bytes_per_cycle=64,
    has_fma=True,
    has_masks=True,
    has_pair_products=True,
    line_bytes=64,
    l1_bytes=32 << 10,
    l1_way_bytes=4 << 10,
    l2_bytes=1 << 20,
    l3_bytes=16 << 20,
    l2_bandwidth=32.0,
    l3_bandwidth=12.0,
    memory_bandwidth=6.0,
    cores=4,
    gigahertz=3.5,
)

_SAPPHIRE_RAPIDS = replace(
    _AVX512,
    full_width_units=2,
    unit_bits=512,
    load_bytes_per_cycle=128,
    has_byte_products=True,
    has_half_products=True,
    tiles=TileRegisters(8, multiplies_halves=True),
    l1_bytes=48 << 10,
    l2_bytes=2 << 20,
    l3_bytes=60 << 20,
    l2_bandwidth=SERVER_L2_BANDWIDTH,
    l3_bandwidth=SERVER_L3_BANDWIDTH / _AVX512.gigahertz,
    costs=Costs(operations=SERVER_OPERATIONS, tiles=SERVER_TILES),
)
"""Caches are those of an Intel Xeon Gold 6430, whose cores share the last one."""

_AVX2_FUNCTIONS = OperationCosts(
    sqrt=8, rsqrt=15, exp=23, log=43, tanh=25, erf=49, sin=29, cos=30, powf=139, other_math=30
)
"""The costs of functions without AVX-512's instructions for masks, for rounding to fractions and
for exponents: more than twice as many instructions. Source: `nnc calibrate` on a Zen 3, within 2 %
in five runs; an `exp` is 28 instructions a vector there. Without multiply-adds it is more."""

_AVX2_TILES = TileCosts(sum_bodies=48)
"""Four steps of a sum around 12 results: with weights that come from memory ResNet-18, MobileNetV2
and EfficientNet-B0 take 0.90 to 0.93 of the time on a Zen 3, from the L3 cache 0.98 to 1.02."""

_AVX2_LOOPS = LoopCosts(asked_streams=1)
"""Four streams from memory are slower with prefetches: 154 MB take a Zen 3 8.6 ms without and 9.1
with them, two cores 5.5 and 6.7."""

_AVX2 = replace(
    _AVX512,
    vector_bits=256,
    vector_registers=16,
    full_width_units=2,
    has_masks=False,
    masked_bytes=(4, 8),
    l2_bytes=512 << 10,
    costs=Costs(operations=_AVX2_FUNCTIONS, tiles=_AVX2_TILES, loops=_AVX2_LOOPS),
)

_SSE = replace(
    _AVX2,
    vector_bits=128,
    unit_bits=128,
    has_fma=False,
    masked_bytes=(),
    l2_bytes=256 << 10,
    costs=Costs(
        operations=replace(
            _AVX2_FUNCTIONS,
            exp=37,
            log=55,
            tanh=34,
            erf=68,
            sin=45,
            cos=45,
            powf=209,
            other_math=45,
        )
    ),
)

_VNNI = frozenset(("avx512vnni", "avxvnni"))
_DOTS = (
    *(
        Dot("u8s8", bits // 32, f"llvm.x86.avx512.vpdpbusd.{bits}", _VNNI, accumulates=True)
        for bits in (128, 256, 512)
    ),
    Dot(
        HALVES,
        16,
        "llvm.x86.avx512bf16.dpbf16ps.512",
        frozenset(("avx512bf16",)),
        accumulates=True,
    ),
    Dot("s16", 4, "llvm.x86.sse2.pmadd.wd"),
    Dot("s16", 8, "llvm.x86.avx2.pmadd.wd"),
    Dot("s16", 16, "llvm.x86.avx512.pmaddw.d.512"),
)

_EMULATOR = Emulator("qemu-x86_64", "max", "x86_64-linux-gnu", "amd64")
"""QEMU has no AVX-512."""


_TILE_FEATURES = "+avx512vnni,+avx512bf16,+amx-tile,+amx-int8,+amx-bf16"
"""What code for `sapphirerapids` may use beyond AVX-512. LLVM's processor of that name has more,
which a hypervisor may hide."""


def _level(number: int, name: str, machine: Processor, summary: str, *aliases: str) -> LlvmTarget:
    one = LlvmTarget(
        name=name,
        summary=summary,
        family="x86",
        machine=machine,
        aliases=aliases,
        triple="x86_64-unknown-linux-gnu",
        cpu=name,
        pause=("llvm.x86.sse2.pause", None),
        names=X86_NAMES,
        dots=_DOTS,
        level=number,
        has_half=number >= 3,  # F16C
        emulator=None if number >= 4 else _EMULATOR,
    )
    return replace(one, variants=(one.under(WINDOWS, Wine(processor=name)), one.under(MACOS)))


_AVX512_LEVEL = _level(4, "x86-64-v4", _AVX512, "servers since 2017, Zen 4: AVX-512", "avx512")

TARGETS = (
    _level(1, "x86-64", _SSE, "any 64-bit x86: SSE2", "sse"),
    _level(2, "x86-64-v2", _SSE, "x86 since about 2009: SSE4.2"),
    _level(3, "x86-64-v3", _AVX2, "x86 since about 2013: AVX2 and FMA", "avx2"),
    _AVX512_LEVEL,
    replace(
        _AVX512_LEVEL,
        name="sapphirerapids",
        summary="Intel's servers since 2023, under Linux: AVX-512, tile registers (AMX)",
        machine=_SAPPHIRE_RAPIDS,
        aliases=(),
        features=_TILE_FEATURES,
        level=5,
        variants=(),
    ),
)
