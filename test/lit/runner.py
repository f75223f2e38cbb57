"""Runs the RUN lines of golden tests, in process: a Python start per line would dominate.

A RUN line is shell text of a small kind: commands joined by `|`, `2>&1`, `not`, `%s` (the
test file), `%t` (a scratch path), `%S` (the test's folder). The same lines run under a real
shell (`pytest test/lit --lit-shell`).
"""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..conftest import require_mlir_opt

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:\s*(.*)$")


@dataclass
class Outcome:
    """What one command left: exit code, output, and what it said."""

    code: int
    stdout: str
    stderr: str


def run_lines(path: Path) -> list[str]:
    """The RUN lines of a test, continued lines (ending in a backslash) joined."""
    lines: list[str] = []
    joining = False
    for line in path.read_text(encoding="utf-8").splitlines():
        match = _RUN.match(line)
        if match is None:
            continue
        text = match.group(1).rstrip()
        if joining:
            lines[-1] = lines[-1][:-1] + text
        else:
            lines.append(text)
        joining = text.endswith("\\")
    return lines


def substitute(line: str, path: Path, scratch: Path) -> str:
    """The line with %s, %S and %t replaced."""
    table = {"%s": path, "%S": path.parent, "%t": scratch / path.stem}
    return re.sub(r"%[sSt]", lambda m: shlex.quote(str(table[m.group()])), line)


def run_in_process(line: str, scratch: Path) -> Outcome:
    """Run one substituted line; the last failing command's code and all messages."""
    text, code, said = "", 0, ""
    for part in _split_pipe(line):
        outcome = _run_command(part, text, scratch)
        text, said = outcome.stdout, said + outcome.stderr
        code = outcome.code or code
    return Outcome(code, text, said)


def run_in_shell(line: str, scratch: Path) -> Outcome:
    """Run one substituted line under bash with pipefail."""
    shell = shutil.which("bash") or "sh"
    script = f'set -o pipefail; not() {{ ! "$@"; }}; {line}'
    done = subprocess.run(
        [shell, "-c", script], cwd=scratch, capture_output=True, text=True, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def _split_pipe(line: str) -> list[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for token in lexer:
        if token == "|":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _run_command(words: list[str], stdin: str, scratch: Path) -> Outcome:
    negate = words[0] == "not"
    words = words[1:] if negate else words
    merge = "2>&1" in words
    words = [w for w in words if w != "2>&1"]
    outcome = _dispatch(words[0], words[1:], stdin, scratch)
    if negate:
        outcome.code = 0 if outcome.code else 1
        if outcome.code:
            outcome.stderr += f"'{' '.join(words)}' succeeded but was expected to fail\n"
    if merge:
        # Messages come first: they are written while the output is still being made.
        outcome = Outcome(outcome.code, outcome.stderr + outcome.stdout, "")
    return outcome


def _dispatch(name: str, arguments: list[str], stdin: str, scratch: Path) -> Outcome:
    if name == "filecheck":
        return _filecheck(arguments, stdin)
    if name in ("mlir-opt", "mlir-opt-22"):
        name = require_mlir_opt()
    if name in ("cat", "test", "diff", "cmp", "rm", "mkdir") or "mlir-opt" in name:
        done = subprocess.run(
            [name, *arguments],
            input=stdin,
            cwd=scratch,
            capture_output=True,
            text=True,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)
    from nnc.tools.command import Streams

    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO(), scratch)
    code = _tool(name)(arguments, streams)
    return Outcome(code, streams.stdout.getvalue(), streams.stderr.getvalue())


def _tool(name: str):
    from importlib import import_module

    modules = {"nn-opt": "nn_opt", "nnc": "nnc", "nn-run": "nn_run"}
    if name not in modules:
        raise AssertionError(f"RUN lines know no command '{name}'")
    return import_module(f"nnc.tools.{modules[name]}").main


def _filecheck(arguments: list[str], stdin: str) -> Outcome:
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import parse_argv_options
    from filecheck.parser import Parser

    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        options = parse_argv_options(["filecheck", *arguments])
        matcher = Matcher(options, FInput("<stdin>", stdin), Parser.from_opts(options))
        code = matcher.run()
    return Outcome(code, "", said.getvalue())
