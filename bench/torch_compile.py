"""nnc as a backend of torch.compile beside Inductor, on 50 architectures of bench/exports.

    python -m bench.torch_compile [NAME ..] [--threads 1] [--seconds 2] [--json FILE]

Each network is compiled by both in a process of its own and run in turns, and compared with eager
PyTorch. Graphs that nnc leaves to PyTorch are counted and named.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

FIFTY = """
resnet18 resnext50_32x4d densenet121 mobilenet_v2 mobilenet_v3_small shufflenet_v2_x0_5
squeezenet1_1 efficientnet_b0 regnet_y_400mf convnext_tiny alexnet googlenet
vit_torchvision swin maxvit lraspp_mobilenet_v3_large r3d_18
timm_mobilenetv4_conv_small timm_ghostnet_100 timm_repvgg_a0 timm_convnextv2_atto
timm_edgenext_xx_small timm_poolformer_s12 timm_fastvit_t8 timm_lcnet_050
timm_deit_tiny_patch16_224 timm_mixer_s32_224 timm_levit_128s timm_mobilevit_xxs timm_pvt_v2_b0
bert roberta albert distilbert modernbert gpt2 gpt2_step llama llama_step qwen3 gemma_step opt t5
torch_transformer lstm_tagger gru_tagger rnn_tagger vit wav2vec2 segformer
"""
"""The rows that are run by default: images, video, language, speech, recurrent networks."""

FRESH = multiprocessing.get_context("spawn")


@dataclass
class Outcome:
    """The result for a network: times in ms of both, and nnc's error against eager PyTorch."""

    name: str
    nnc: float = 0.0
    inductor: float = 0.0
    error: float = 0.0
    compile_seconds: tuple[float, float] = (0.0, 0.0)
    """The compile times of nnc and of Inductor."""
    fallbacks: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def ratio(self) -> float:
        """The speed relative to Inductor."""
        return self.inductor / self.nnc


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.torch_compile", description=__doc__)
    parser.add_argument("names", nargs="*", default=FIFTY.split(), help="rows, may have a '*'")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0, help="of timing for each network")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one network")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = []
    print(f"{'network':32} {'nnc ms':>9} {'inductor':>9} {'times':>6} {'error':>8}  compile s")
    for name in chosen(options.names):
        found.append(apart(name, options.threads, options.seconds, options.limit))
        print(line(found[-1]), flush=True)
    done = [one for one in found if not one.failure]
    ratios = [one.ratio for one in done]
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"{len(done)} of {len(found)}: geometric mean {mean:.2f}, least {min(ratios):.2f}")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found], indent=1))


def chosen(patterns: list[str]) -> list[str]:
    """The rows of the table that the patterns select."""
    from .exports import language, several, vision  # noqa: F401 - they are the table
    from .exports.rows import ROWS

    return [name for name in ROWS.rows if any(fnmatch(name, p) for p in patterns)]


def apart(name: str, threads: int, seconds: float, limit: float) -> Outcome:
    """The result for one network, computed in another process."""
    ours, theirs = FRESH.Pipe(duplex=False)
    process = FRESH.Process(target=send, args=(theirs, name, threads, seconds))
    process.start()
    theirs.close()
    try:
        if ours.poll(limit):
            return ours.recv()
        return Outcome(name, failure=f"took more than {limit:.0f} s")
    except EOFError:
        process.join()
        return Outcome(name, failure=f"ended with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()


def send(pipe: Connection, name: str, threads: int, seconds: float) -> None:
    """In the new process: compare, and send the result."""
    try:
        found = compared(name, threads, seconds)
    except Exception as error:  # of the framework, or a fault of nnc's: a finding either way
        found = Outcome(name, failure=f"{type(error).__name__}: {error}")
    pipe.send(found)


def compared(name: str, threads: int, seconds: float) -> Outcome:
    """The result of both backends for one network."""
    import torch
    from nnc.driver.torch_backend import backend as nnc_backend

    from .exports import language, several, vision  # noqa: F401 - they are the table
    from .exports.check import worst_error
    from .exports.rows import ROWS

    torch.set_num_threads(threads)
    row = ROWS.rows[name]
    module, inputs = row.module(), list(row.arguments(0).values())
    found = Outcome(name)
    with torch.inference_mode():
        want = [tensor.numpy() for tensor in module(*inputs)]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ours, seconds_ours, got = compiled(module, nnc_backend, inputs)
        found.fallbacks = [str(w.message) for w in said if "leaves a graph" in str(w.message)]
        found.error = worst_error([tensor.numpy() for tensor in got], want)
        with torch._dynamo.config.patch(allow_rnn=False):  # as it is without nnc
            theirs, seconds_theirs, _ = compiled(module, "inductor", inputs)
        found.compile_seconds = seconds_ours, seconds_theirs
        found.nnc, found.inductor = in_turns(ours, theirs, seconds)
    return found


def compiled(
    module: Any, backend: Any, inputs: list[Any]
) -> tuple[Callable[[], Any], float, list[Any]]:
    """A function that runs a compiled network, the seconds of its first call, and its outputs."""
    import torch

    function = torch.compile(module, backend=backend, dynamic=False)
    began = time.perf_counter()
    outputs = list(function(*inputs))
    return lambda: function(*inputs), time.perf_counter() - began, outputs


def in_turns(
    ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float
) -> tuple[float, float]:
    """The median times of two functions that take turns. Units: milliseconds."""
    times: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + seconds
    while len(times[0]) < 7 or time.perf_counter() < end:
        for run, taken in zip((ours, theirs), times, strict=True):
            began = time.perf_counter()
            run()
            taken.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times[0]), statistics.median(times[1])


def line(found: Outcome) -> str:
    """A network's line of the table."""
    if found.failure:
        return f"{found.name:32} FAILS: {' '.join(found.failure.split())[:160]}"
    text = f"{found.name:32} {found.nnc:9.2f} {found.inductor:9.2f} {found.ratio:6.2f} "
    text += f"{found.error:8.0e}  {found.compile_seconds[0]:.1f} {found.compile_seconds[1]:.1f}"
    return text + "".join(f"\n    {' '.join(one.split())[:150]}" for one in found.fallbacks)


if __name__ == "__main__":
    main()
