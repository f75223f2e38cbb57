"""Command lines as tables: each option declared once, for parsing, help and completion.

Options are spelled as upstream's: one dash or two, values after `=` or as the next argument,
switches with or without a value (`--verify-each`, `--verify-each=0`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal

from ..ir.diagnostics import NncError


@dataclass(frozen=True)
class Flag:
    """One option. `bare` is its value if it is given without one; None if a value is required.

    `kind` is the kind of values: `names` are separated by commas and accumulate over several uses,
    as `files` do; `file`, `folder` and `target` are texts with special completion.
    """

    name: str
    help: str
    kind: Literal["switch", "text", "int", "names", "file", "files", "folder", "target"] = "switch"
    metavar: str = ""
    default: Any = None
    bare: Any = None
    choices: tuple[str, ...] = ()
    short: str = ""

    @property
    def attribute(self) -> str:
        """The name of its value after parsing."""
        return self.name.replace("-", "_")

    @property
    def start(self) -> Any:
        """The value where the option is not given."""
        if self.kind == "switch":
            return bool(self.default)
        return [] if self.kind in ("names", "files") else self.default

    @property
    def needs_value(self) -> bool:
        return self.kind != "switch" and self.bare is None

    def usage(self) -> str:
        """`--name=METAVAR`, with brackets where the value may be left out."""
        value = self.metavar or "|".join(self.choices)
        dashes = f"-{self.short}, --{self.name}" if self.short else f"--{self.name}"
        if not value:
            return dashes
        return f"{dashes}={value}" if self.needs_value else f"{dashes}[={value}]"


@dataclass(frozen=True)
class FlagGroup:
    """Options under one heading of the help."""

    title: str
    flags: tuple[Flag, ...]


@dataclass
class Arguments:
    """A parsed command line: options, positional arguments, and steps in their order."""

    options: SimpleNamespace
    positional: list[str] = field(default_factory=list)
    steps: list[tuple[str, str | None]] = field(default_factory=list)


def parse_arguments(
    tool: str,
    groups: Sequence[FlagGroup],
    argv: Sequence[str],
    is_step: Callable[[str], bool] = lambda name: False,
    step_names: Callable[[], Iterable[str]] = tuple,
) -> Arguments:
    """Parse a command line. A step is an option outside of the table, whose order counts.

    Raises NncError for unknown options, with the nearest one, and for invalid values.
    """
    flags = {name: f for g in groups for f in g.flags for name in (f.name, f.short) if name}
    options = SimpleNamespace(**{f.attribute: f.start for f in flags.values()})
    found = Arguments(options)
    rest = list(reversed(argv))
    while rest:
        argument = rest.pop()
        if argument == "--":
            found.positional += reversed(rest)
            break
        if not argument.startswith("-") or argument == "-":
            found.positional.append(argument)
            continue
        name, equals, value = argument[1:].removeprefix("-").partition("=")
        flag = flags.get(name)
        if flag is None:
            if not is_step(name):
                raise NncError(_unknown(tool, argument.partition("=")[0], flags, step_names()))
            found.steps.append((name, value if equals else None))
            continue
        if not equals and flag.needs_value:
            if not rest:
                raise NncError(f"{tool}: option '--{flag.name}' needs a value")
            value, equals = rest.pop(), "="
        _set(tool, options, flag, value if equals else None)
    return found


def _set(tool: str, options: SimpleNamespace, flag: Flag, text: str | None) -> None:
    if text is None:
        value: Any = True if flag.kind == "switch" else flag.bare
    else:
        value = _value(tool, flag, text)
    if flag.kind in ("names", "files"):
        value = [*getattr(options, flag.attribute), *value]
    setattr(options, flag.attribute, value)


def _value(tool: str, flag: Flag, text: str) -> Any:
    def fault(wanted: str) -> NncError:
        return NncError(f"{tool}: option '--{flag.name}' takes {wanted}, not '{text}'")

    if flag.kind == "switch":
        known = {"true": True, "1": True, "false": False, "0": False}
        if text.lower() not in known:
            raise fault("true or false (1 or 0)")
        return known[text.lower()]
    if flag.kind == "int":
        try:
            return int(text)
        except ValueError:
            raise fault("a whole number") from None
    parts = [p.strip() for p in text.split(",") if p.strip()] if flag.kind == "names" else [text]
    for part in parts:
        if flag.choices and part not in flag.choices:
            raise fault(f"one of {', '.join(flag.choices)}")
    return parts if flag.kind in ("names", "files") else text


def _unknown(tool: str, given: str, flags: Iterable[str], steps: Iterable[str]) -> str:
    import difflib

    names = [n for n in (*flags, *steps) if len(n) > 1]
    close = difflib.get_close_matches(given.lstrip("-"), names, 1)
    meant = f"; did you mean '--{close[0]}'?" if close else ";"
    return f"{tool}: unknown option '{given}'{meant} {tool} --help lists all options"


def help_text(groups: Sequence[FlagGroup]) -> str:
    """All options by group, their texts in one column."""
    import textwrap

    lines: list[str] = []
    for group in groups:
        lines.append(f"\n{group.title}:")
        for flag in group.flags:
            text = f"  {flag.usage()}"
            if len(text) > 38:
                lines.append(text)
                text = ""
            indent = " " * 40
            wrapped = textwrap.wrap(flag.help, 100, initial_indent=indent, subsequent_indent=indent)
            wrapped[0] = f"{text:<40}{wrapped[0][40:]}"
            lines += wrapped
    return "\n".join(lines) + "\n"
