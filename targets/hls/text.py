"""The text of a model: its hardware functions, a header, a test bench, and an estimate."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...artifacts.header import about
from ...dialects.marks import SAMPLES
from ...ir.attributes import DictAttr
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ..fpga import FpgaMachine
from ..source.entry import TENSOR, entry_lines, parameters
from ..source.module import numbers_text, print_module
from .estimate import Report, estimated
from .fixed import FixedRanges
from .fixed_printer import FixedPrinter
from .language import language
from .printer import HlsPrinter, constant_text
from .ranges import Ranges

PART = "/* -- part -- */\n"
"""The line that separates parts of the generated code: hardware functions, functions for this
process, the report, the samples."""

_HEADER = """\
{about}
#ifndef {upper}_TOP_H
#define {upper}_TOP_H

#include <stdint.h>

/* The function of hardware; tensors are row-major.{status} */
{result} {prefix}_top({parameters});

#endif
"""

_BENCH = """\
/* Made by nnc: the function of hardware on random inputs, with the reference's outputs. */
#include <math.h>
#include <stdio.h>
#include "{header}"

{arrays}
int main() {{
    int wrong = 0;
    double worst = 0;
    {prefix}_top({arguments});
{checks}
    printf("%s: %d wrong, largest difference %g\\n", wrong ? "FAIL" : "PASS", wrong, worst);
    return wrong != 0;
}}
"""

_CHECK = """\
    for (int i = 0; i < {count}; i++) {{
        const double difference = fabs((double){name}[i] - (double){name}_expected[i]);
        wrong += !(difference <= {tolerance});
        worst = difference > worst ? difference : worst;
    }}
"""


def ranges_of(module: Operation, fixed: int) -> Ranges:
    """The ranges of a module's buffers; with `fixed` bits, floats are fixed-point numbers."""
    return FixedRanges(module, fixed) if fixed else Ranges(module)


def hls_text(
    module: Operation, prefix: str, machine: FpgaMachine, exact: bool = False, fixed: int = 0
) -> str:
    """A module after the last stage as HLS C++, in parts. With `exact`, integer arrays have exactly
    the bits that they need; with `fixed` > 0, floats are fixed-point numbers of so many bits.

    Raises NncError.
    """
    ranges = ranges_of(module, fixed)
    report = report_of(module, ranges, machine)
    top, printer = f"{prefix}_top", FixedPrinter if fixed else HlsPrinter
    types = "#include <ap_fixed.h>\n#include <ap_int.h>\n" if exact or fixed else ""
    text = print_module(
        module,
        language(),
        lambda words, facts, op: printer(words, facts, op, ranges, top, exact),
        partial(constant_text, ranges=ranges, exact=exact),
    )
    parts = [
        "/* Made by nnc: HLS C++ in the dialect of AMD's Vitis. */\n",
        types + (Path(__file__).parent / "prelude.h").read_text() + numbers_text(),
        text.constants,
        text.functions,
        PART + TENSOR,
        'extern "C" {',
        "\n".join(entry_lines(module, text, prefix)),
        "}\n",
        "#if 0",
        PART + json.dumps(report.as_json(), indent=1) + "\n",
        PART + json.dumps(samples_of(module, ranges)),
        PART + "#endif\n",
    ]
    return "\n".join(parts)


def report_of(module: Operation, ranges: Ranges, machine: FpgaMachine) -> Report:
    """The resources that a module uses. Raises NncError if the part has too little memory."""
    found = estimated(module, ranges, machine)
    if found.memory_bits > machine.memory_bits:
        raise NncError(
            f"the model needs {found.memory_bits / 2**20:,.1f} Mbit of memory on the chip, and the "
            f"part has {machine.memory_bits / 2**20:,.1f}: choose a larger part or a smaller model"
        )
    return found


def samples_of(module: Operation, ranges: Ranges) -> dict[str, Any]:
    """Sample inputs, the reference's outputs, as lists of numbers, and the tolerance."""
    given = module.attributes.get(SAMPLES)
    if not isinstance(given, DictAttr):
        return {}
    found: dict[str, Any] = {
        key: [_numbers(one.to_numpy()) for one in values]  # type: ignore[attr-defined]
        for key, values in given.items()
    }
    return {**found, "tolerance": ranges.tolerance}


def _numbers(array: np.ndarray) -> list[Any]:
    """Numbers as C++ literals: 16-bit floats as their bits, truth values as 0 and 1."""
    if array.dtype.itemsize == 2 and array.dtype.kind not in "iu":
        array = array.view(np.uint16)
    return (array.astype(np.uint8) if array.dtype == np.bool_ else array).reshape(-1).tolist()


def header(signature: Any, prefix: str) -> str:
    """The header for programs that call the function."""
    listed = ", ".join(
        f"{'' if is_output else 'const '}{kind} {name}[{max(1, type.num_elements)}]"
        for name, kind, type, is_output in parameters(signature, language())
    )
    fails = bool(signature.failures)
    return _HEADER.format(
        result="int32_t" if fails else "void",
        status=" Gives 0, or the number of a check that failed." if fails else "",
        about=about(signature),
        upper=prefix.upper(),
        prefix=prefix,
        parameters=listed,
    )


def bench_text(signature: Any, prefix: str, name: str, samples: dict[str, Any]) -> str:
    """A program that prints PASS if the function reproduces the reference's outputs."""
    arrays, checks, arguments = [], [], []
    given, wanted = iter(samples["inputs"]), iter(samples["outputs"])
    for argument, kind, type, is_output in parameters(signature, language()):
        count = max(1, type.num_elements)
        numbers = np.asarray(next(wanted if is_output else given))
        listed = ", ".join(map(_number, numbers.tolist()))
        own = f"{argument}_expected" if is_output else argument
        arrays.append(f"static const {kind} {own}[{count}] = {{ {listed} }};")
        arguments.append(argument)
        if is_output:
            arrays.append(f"static {kind} {argument}[{count}];")
            most = float(np.abs(numbers).max()) if numbers.size else 0.0
            tolerance = _number(samples["tolerance"] * most)
            checks.append(_CHECK.format(count=count, name=argument, tolerance=tolerance))
    return _BENCH.format(
        header=name,
        arrays="\n".join(arrays),
        prefix=prefix,
        arguments=", ".join(arguments),
        checks="".join(checks).rstrip("\n"),
    )


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else repr(float(value))
