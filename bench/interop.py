"""Counts the foreign MLIR that nnc reads and writes as mlir-opt does, and the ops it implements.

    python bench/interop.py FOLDER..                      # .mlir files, however deep
    python bench/interop.py --include /usr/lib/llvm-22/include

Files are split at lines `// -----`, and the parts that the real mlir-opt accepts are kept.
*Generic*: its generic text goes through nnc and must come out unchanged. *Custom*: for parts that
use only dialects of nnc, both the text as written and mlir-opt's print of it must come out as
mlir-opt prints it. With `--include`, the ops of each upstream dialect are read from the headers
generated from their declarations.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path

OURS = frozenset(
    "builtin func cf ub arith math scf memref tensor vector linalg affine llvm".split()  # noqa: SIM905
)
"""The upstream dialects that nnc implements."""

SECONDS = 30
"""The time limit for one part in nnc. Units: seconds."""


@dataclass
class Part:
    """One part of a file: the dialects it uses, and its errors; empty texts mean success."""

    name: str
    dialects: frozenset[str] = frozenset()
    generic: str = ""
    custom: str | None = None
    """None if the part uses dialects that nnc lacks."""


@dataclass
class Count:
    """The number of correct parts, of those tried."""

    right: int = 0
    tried: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, fault: str) -> None:
        self.tried += 1
        if fault:
            self.failures.append((name, fault))
        else:
            self.right += 1

    def __str__(self) -> str:
        share = f" ({100 * self.right / self.tried:.1f} %)" if self.tried else ""
        return f"{self.right} of {self.tried}{share}"


# -- one part ------------------------------------------------------------------------------------


def parts_of(folders: Iterable[Path]) -> list[tuple[str, str]]:
    """Every distinct part of every .mlir file, as (name, text)."""
    found: dict[str, str] = {}
    for folder in folders:
        paths = [folder] if folder.is_file() else sorted(folder.rglob("*.mlir"))
        for path in paths:
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            for i, part in enumerate(re.split(r"^// -----.*\n", text, flags=re.M)):
                if re.search(r"^[^/\s]", part, re.M):
                    found.setdefault(part, f"{path}#{i}")
    return [(name, text) for text, name in found.items()]


def upstream(mlir_opt: str, text: str, *options: str) -> str | None:
    """The text as mlir-opt prints it; None if mlir-opt rejects it."""
    done = subprocess.run(
        [mlir_opt, "--allow-unregistered-dialect", *options],
        input=text,
        capture_output=True,
        text=True,
        errors="surrogateescape",
    )
    return done.stdout.rstrip("\n") if done.returncode == 0 else None


def dialects_in(generic: str) -> frozenset[str]:
    """The dialects of the operations, attributes and types of a generic text."""
    ops = re.findall(r'"([A-Za-z_]\w*)(?:\.[\w.$-]+)?"\s*\(', generic)
    others = re.findall(r"[!#]([a-z_]\w*)[.<]", generic)
    return frozenset(ops) | (frozenset(others) - {"map", "set", "loc", "tuple", "distinct"})


def through_nnc(text: str, wanted: str, generic: bool) -> str:
    """What goes wrong if nnc parses and prints a text that should come out as `wanted`; empty if
    nothing.
    """
    from nnc.ir.diagnostics import NncError
    from nnc.ir.syntax.parser import parse_module
    from nnc.ir.syntax.printer import print_op

    def too_long(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        module = parse_module(text, "-", allow_unregistered=True)
        module.verify()
        out = print_op(module, generic=generic).rstrip("\n")
    except (NncError, TimeoutError) as fault:
        return str(fault).split("\n")[0]
    except Exception as fault:  # a defect: it counts, and is named
        return f"{type(fault).__name__}: {fault}"
    finally:
        signal.alarm(0)
    if out == wanted:
        return ""
    lines = zip(wanted.split("\n"), out.split("\n"), strict=False)
    return next((f"wants {a.strip()}, gives {b.strip()}" for a, b in lines if a != b), "length")


def try_part(task: tuple[str, str, str]) -> Part | None:
    """The result for a part; None if mlir-opt rejects it."""
    mlir_opt, name, text = task
    generic = upstream(mlir_opt, text, "--mlir-print-op-generic")
    custom = upstream(mlir_opt, text)
    if generic is None or custom is None:
        return None
    part = Part(name, dialects_in(generic), through_nnc(generic, generic, True))
    if part.dialects <= OURS:
        part.custom = through_nnc(custom, custom, False) or through_nnc(text, custom, False)
    return part


# -- reports ---------------------------------------------------------------------------------------


def report(parts: list[Part]) -> str:
    """A table by dialect; a part counts for each dialect that it uses."""
    generic: dict[str, Count] = defaultdict(Count)
    custom: dict[str, Count] = defaultdict(Count)
    for part in parts:
        for dialect in ("all", *part.dialects):
            generic[dialect].add(part.name, part.generic)
            if part.custom is not None:
                custom[dialect].add(part.name, part.custom)
    lines = ["| dialect | generic text unchanged | custom text byte-equal |", "|---|---|---|"]
    for dialect in sorted(generic, key=lambda d: (d != "all", d not in OURS, -generic[d].tried)):
        shown = str(custom[dialect]) if custom[dialect].tried else ""
        lines.append(f"| {dialect} | {generic[dialect]} | {shown} |")
    return "\n".join(lines)


def upstream_ops(include: Path) -> dict[str, set[str]]:
    """The ops of each upstream dialect, from the generated headers below a folder."""
    name = re.compile(r'getOperationName\(\) \{\s*return ::llvm::StringLiteral\("([^"]+)"\)')
    found: dict[str, set[str]] = defaultdict(set)
    for path in include.rglob("*.h.inc"):
        for op in name.findall(path.read_text(encoding="utf-8", errors="replace")):
            found[op.partition(".")[0]].add(op)
    if not found:
        raise SystemExit(f"{include}: no generated headers (*.h.inc) of MLIR below this folder")
    return found


def coverage(include: Path, missing: bool) -> str:
    """A table of the number of ops of each upstream dialect that nnc implements."""
    import nnc.dialects  # noqa: F401 - names the dialects
    from nnc.ir.dialect import registry

    registry.load_all()
    lines = ["| dialect | ops here | ops upstream |", "|---|---|---|"]
    lacking = []
    for dialect, ops in sorted(upstream_ops(include).items()):
        known = {op for op in ops if registry.find_op(op) is not None} if dialect in OURS else set()
        lines.append(f"| {dialect} | {len(known)} | {len(ops)} |")
        if known:
            lacking += sorted(ops - known)
    if missing:
        lines += ["", "Not here: " + (", ".join(f"`{op}`" for op in lacking) or "none")]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the requested tables."""
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    ap.add_argument("folders", nargs="*", type=Path, help="folders of .mlir files, or files")
    ap.add_argument("--include", type=Path, help="MLIR's include folder: report covered ops")
    ap.add_argument("--missing", action="store_true", help="name the ops that are not covered")
    ap.add_argument("--failures", type=int, default=0, help="name so many parts that fail")
    ap.add_argument("--mlir-opt", default=shutil.which("mlir-opt-22") or "mlir-opt")
    ap.add_argument("-j", type=int, default=2, help="processes")
    args = ap.parse_args(arguments)
    if args.folders:
        tasks = [(args.mlir_opt, *part) for part in parts_of(args.folders)]
        with Pool(args.j) as pool:
            tried = pool.map(try_part, tasks, chunksize=8)
        parts = [part for part in tried if part is not None]
        print(f"{len(parts)} of {len(tasks)} parts are accepted by mlir-opt.\n")
        print(report(parts))
        for kind in ("generic", "custom"):
            faults = [(p.name, f) for p in parts if (f := getattr(p, kind))]
            for name, fault in faults[: args.failures]:
                print(f"{kind}: {name}: {fault[:200]}", file=sys.stderr)
    if args.include is not None:
        print(coverage(args.include, args.missing))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
