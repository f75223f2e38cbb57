"""One measurement of `bench.text` with one of the two tools, in a process of its own.

Run as a script, by the interpreter that has the tool:

    python bench/text_worker.py nnc|xdsl TASK FILE

It imports nothing but the tool, and prints its measurements as one line of JSON.
"""

from __future__ import annotations

import gc
import io
import json
import sys
import time
from collections.abc import Callable
from typing import Any

REPEATS = 3


class Nnc:
    """The tasks in nnc."""

    def __init__(self) -> None:
        from nnc.ir.syntax.parser import parse_module
        from nnc.ir.syntax.printer import print_op

        self.parse: Callable[[str], Any] = lambda text: parse_module(text, allow_unregistered=True)
        self.print: Callable[[Any, bool], str] = print_op
        self.parse("module {}")

    def rewrite(self, module: Any) -> None:
        """The canonicalize pass: folding, identities, dead code."""
        from nnc.ir.passes import PassContext
        from nnc.passes.canonicalize import Canonicalize

        Canonicalize().run(module, PassContext())


class Xdsl:
    """The tasks in xDSL."""

    def __init__(self) -> None:
        from xdsl.context import Context
        from xdsl.dialects import get_all_dialects
        from xdsl.parser import Parser

        self.context = Context(allow_unregistered=True)
        for name, load in get_all_dialects().items():
            self.context.register_dialect(name, load)
        self.parse: Callable[[str], Any] = lambda text: Parser(self.context, text).parse_module()
        self.parse("builtin.module {}")

    def print(self, module: Any, generic: bool) -> str:
        from xdsl.printer import Printer

        stream = io.StringIO()
        Printer(stream, print_generic_format=generic).print_op(module)
        return stream.getvalue()

    def rewrite(self, module: Any) -> None:
        """xDSL's canonicalize pass, the fastest of its ways to rewrite."""
        from xdsl.transforms.canonicalize import CanonicalizePass

        CanonicalizePass().apply(self.context, module)


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """The processor time of an action in seconds, and its result."""
    gc.collect()
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def middle(numbers: list[float]) -> float:
    """The median."""
    return sorted(numbers)[len(numbers) // 2]


def text_task(tool: Any, text: str, generic: bool, repeats: int) -> dict[str, float]:
    """Seconds to parse, verify and print; `first` is the first parse of the process."""
    times: dict[str, list[float]] = {"parse": [], "verify": [], "print": []}
    module = None
    for _ in range(repeats):
        module = None
        seconds, module = timed(lambda: tool.parse(text))
        times["parse"].append(seconds)
        times["verify"].append(timed(module.verify)[0])
        seconds, printed = timed(lambda module=module: tool.print(module, generic))
        times["print"].append(seconds)
    found = {name: middle(values) for name, values in times.items()}
    found["first"] = times["parse"][0]
    found["ops"] = sum(1 for _ in module.walk())  # type: ignore[union-attr]
    found["same"] = float(printed.strip() == text.strip())
    return found


def rewrite_task(tool: Any, text: str) -> dict[str, float]:
    """The seconds to rewrite until nothing changes, and the number of remaining operations."""
    module = tool.parse(text)
    before = sum(1 for _ in module.walk())
    seconds, _ = timed(lambda: tool.rewrite(module))
    return {"rewrite": seconds, "ops": before, "left": sum(1 for _ in module.walk())}


def memory_task(tool: Any, text: str) -> dict[str, float]:
    """Bytes that stay allocated per operation of the parsed module."""
    import tracemalloc

    module = tool.parse(text)  # what is cached once per process is not the module's
    ops = sum(1 for _ in module.walk())
    del module
    gc.collect()
    tracemalloc.start()
    module = tool.parse(text)
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del module
    return {"bytes": held / ops, "ops": ops}


def main() -> None:
    """Run one measurement, as the command line says."""
    tool_name, task, path = sys.argv[1:4]
    # A script's own folder comes first on the path; nothing is wanted from it.
    sys.path.pop(0)
    tool = {"nnc": Nnc, "xdsl": Xdsl}[tool_name]()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    match task:
        case "generic" | "custom":
            found = text_task(tool, text, task == "generic", REPEATS)
        case "scaling":
            found = text_task(tool, text, True, 1)
        case "rewrite":
            found = rewrite_task(tool, text)
        case "memory":
            found = memory_task(tool, text)
        case _:
            raise SystemExit(f"unknown task '{task}'")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
