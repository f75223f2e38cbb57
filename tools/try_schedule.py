"""`nnc try`: tries a kernel's schedule edited by hand: is it legal, correct, and how fast?"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..dialects.marks import INPUT_NAMES, OUTPUT_NAMES
from ..driver.cache import ModelCache
from ..driver.hosting import entry_of
from ..driver.tuning.trying import (
    Attempt,
    Beside,
    chosen_kernel,
    editable_kernels,
    parsed_schedule,
    try_schedule,
)
from ..ir.diagnostics import NncError
from ..ir.files import read_text
from ..ir.location import FileLineColLoc
from ..numerics.interpreter import Interpreter
from .inputs import check_inputs, gather_inputs

if TYPE_CHECKING:
    from ..ir.core import Operation
    from .session import Session

REFERENCE = "the model's operators one by one in NumPy"
REFERENCE_SECONDS = 20.0
"""The longest run of the reference; the results of a larger model are not checked."""


def try_edited(args: argparse.Namespace, session: Session) -> int:
    """Print a kernel's schedule, or the result of an edited one; returns 1 for a bad result."""
    if not args.seconds > 0:
        raise NncError(f"nnc: --seconds is above 0, not {args.seconds:g}")
    if args.schedule is None:
        return _print_default(args, session)
    path = session.streams.path(args.schedule)
    text = read_text(path)
    kernel = args.kernel or parsed_schedule(text, str(path)).kernel
    args.random = True
    module = session.load()
    check_inputs(module, args, session.streams)
    plain = module.clone()
    attempt = try_schedule(
        module,
        lambda executable: gather_inputs(executable, args, session.streams),
        kernel,
        text,
        str(path),
        seconds=args.seconds,
        threads=args.threads,
        target=args.target,
        reference=lambda inputs: reference_outputs(plain, inputs, REFERENCE_SECONDS),
        say=session.progress,
        kept=ModelCache() if args.cache else None,
    )
    if args.json:
        session.say(json.dumps(attempt.as_json(), indent=2))
        return 0
    if not attempt.legal:
        fault = attempt.fault
        assert fault is not None
        raise NncError(fault.message, FileLineColLoc(str(path), fault.line, fault.column))
    for line in told(attempt):
        session.say(line)
    return 0 if attempt.right else 1


def _print_default(args: argparse.Namespace, session: Session) -> int:
    if args.json:
        raise NncError("nnc: --json needs --schedule")
    kernels = editable_kernels(session.load(), args.target)
    if args.kernel is None:
        for name in kernels:
            session.say(name)
        return 0
    session.say(str(chosen_kernel(kernels, args.kernel).default))
    return 0


def reference_outputs(
    module: Operation, inputs: Mapping[str, Any], seconds: float
) -> tuple[dict[str, Any] | None, str]:
    """The outputs of a model by the definitions of its operators, and a description of them.

    None, with the reason, if that takes longer than `seconds`, or is not possible.
    """
    entry = entry_of(module)
    if entry is None:
        return None, "none: the module has no entry"
    until = time.monotonic() + seconds

    def watch(op: Operation, values: list[Any]) -> None:
        if time.monotonic() > until:
            raise NncError(f"it takes more than {seconds:.0f} s")

    names, wanted = (
        [one.value for one in entry.attributes[key].elements] for key in (INPUT_NAMES, OUTPUT_NAMES)
    )
    if missing := [name for name in names if name not in inputs]:
        return None, f"none: a run starts with a state '{missing[0]}'"
    interpreter = Interpreter(module, on_value=watch, write=lambda text: None)
    try:
        found = interpreter.call(entry.sym_name, [inputs[name] for name in names])
    except NncError as error:
        return None, f"none: {error.message}"
    return dict(zip(wanted, found, strict=True)), REFERENCE


def told(one: Attempt) -> Iterator[str]:
    """The result of a legal schedule, as lines for people."""
    same = ", and is the default" if one.is_default else ""
    yield f"{one.kernel} for {one.target}: the schedule is legal{same}"
    if one.right is None:
        yield f"not measured: {one.fault.message if one.fault else 'unknown'}"
        return
    if not one.right:
        yield f"not right: {one.fault.message if one.fault else 'unknown'}"
        return
    yield "right: at each call the results are the default's, as far as the order of sums allows"
    if one.errors is not None:
        default, edited = one.errors
        yield f"error of the outputs: {edited:.2g}, the default's {default:.2g} ({one.reference})"
    else:
        yield f"reference: {one.reference}"
    calls = f"{one.calls} calls of it" if one.calls > 1 else "the kernel"
    for what, times in ((calls, one.time), ("the model", one.whole)):
        if times is not None:
            yield _beside(what, times)


def _beside(what: str, times: Beside) -> str:
    ratio = times.ratio
    surely = "faster" if ratio.high < 1 else "slower" if ratio.low > 1 else "no sure difference"
    return (
        f"{what}: {times.edited:.1f} us, the default {times.default:.1f} us; ratio "
        f"{ratio.median:.3f} ({ratio.low:.3f} to {ratio.high:.3f}, {times.pairs} turns): {surely}"
    )
