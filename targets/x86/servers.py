"""Numbers of Intel's servers, beside those of the levels of `levels.py`."""

from __future__ import annotations

from ..costs import OperationCosts, TileCosts

SERVERS = (
    "skylake-avx512", "cascadelake", "cooperlake", "icelake-server", "sapphirerapids",
    "emeraldrapids", "graniterapids", "graniterapids-d", "sierraforest", "clearwaterforest",
)  # fmt: skip
"""Intel's processors for servers, by LLVM's names. A hypervisor may hide the model; from Sapphire
Rapids on, matrix units tell.
"""

SERVER_BANDWIDTH = 11.0
"""The memory bandwidth of one core of the processors in `SERVERS`. Units: GB/s.

It is limited by the lines in flight over a latency of some 100 ns, not by the memory's channels.
Desktops have a shorter latency, and AMD's cores more lines in flight: the levels of `levels.py`
assume 21 GB/s. Source: measured on a virtual machine of two such cores; for the reason and other
processors, J. McCalpin, "The evolution of single-core bandwidth in multicore processors", 2023.

It is not used for processors with matrix units: two cores of such a server (15 GB/s from memory)
run ResNet-18 and VGG-16 7 to 17 % faster by the schedules that 21 GB/s lead to, as their last
caches hold the weights of most models.
"""

SERVER_L3_BANDWIDTH = 30.0
"""What one core of the processors in `SERVERS` reads from the last cache. Units: GB/s.

That cache lies behind a mesh, and a core keeps as few lines in flight there as to memory. Source:
measured on a virtual machine of two Sapphire Rapids cores, 29 to 32 GB/s from 8 to 64 MB.
"""

SERVER_L2_BANDWIDTH = 50.0
"""What one core of the processors in `SERVERS` reads from its second cache. Units: bytes per cycle.

Source: `nnc calibrate` on an Emerald Rapids, 49.4 to 50.1.
"""

SERVER_TILES = TileCosts(sum_bodies=56, long_sum=64)
"""Tiles of up to 28 results compute two steps of a sum in a row, if it has 64 steps or more: BERT,
DeiT, Whisper's encoder and ALBERT take 0.96 to 0.98 of the time on an Emerald Rapids. Convolutions
sum 16 channels in their innermost loop; with two steps of these, MobileNetV2 takes 1.05 and
EfficientNet-B0 1.02 of the time."""

SERVER_OPERATIONS = OperationCosts(
    sqrt=21,
    rsqrt=42,
    exp=19,
    log=31,
    tanh=30,
    erf=38,
    sin=26,
    cos=26,
    powf=129,
    other_math=27,
    divf=18,
)
"""The costs of functions on processors in `SERVERS` that have AVX-512. Units: additions.

Two of their units add vectors of full width, of which Zen 4, whose numbers are the levels' own, has
one: a function takes the time of more additions here. Source: `nnc calibrate` on an Emerald Rapids,
within 2 % in its runs.
"""
