"""`--completion SHELL`: scripts that complete command lines, made from what the tools declare.

source <(nn-opt --completion bash)
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..artifacts.bindings import LANGUAGES
from ..artifacts.options import chosen_languages
from ..targets.base import target_names
from .flags import FlagGroup
from .shared_options import target_argument, targets_argument

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class Option:
    """An option as completion sees it. `values` are offered after `=` or as the next word."""

    names: tuple[str, ...]
    help: str
    takes_value: bool = False
    values: tuple[str, ...] = ()
    several: bool = False
    folders_only: bool = False


@dataclass
class Command:
    """A tool or one of its subcommands: its options, and subcommands by name with their help."""

    name: str
    options: list[Option] = field(default_factory=list)
    subcommands: dict[str, tuple[str, Command]] = field(default_factory=dict)


def completion_script(tool: str, shell: str) -> str:
    """The script of a tool for a shell, one of `SHELLS`."""
    command = _COMMANDS[tool]()
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](command)


# -- what the tools declare ------------------------------------------------------------------------


def command_from_flags(
    name: str, groups: Sequence[FlagGroup], steps: Sequence[Option] = ()
) -> Command:
    """The command of a tool with a table of flags; `steps` (passes) are given as options, too."""
    passes = tuple(step.names[0].lstrip("-") for step in steps)
    options = []
    for flag in (f for g in groups for f in g.flags):
        names = (f"--{flag.name}", f"-{flag.short}") if flag.short else (f"--{flag.name}",)
        several = flag.kind == "names"
        values = passes if several else flag.choices
        if flag.kind == "target":
            values = tuple(target_names())
        options.append(
            Option(names, flag.help, flag.needs_value, values, several, flag.kind == "folder")
        )
    return Command(name, [*options, *steps])


def command_from_parser(name: str, parser: argparse.ArgumentParser) -> Command:
    """The command for an argparse parser and its subcommands."""
    command = Command(name)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for sub, inner in action.choices.items():
                made = command_from_parser(f"{name} {sub}", inner)
                command.subcommands[sub] = helps.get(sub, ""), made
        elif action.option_strings:
            values = tuple(str(choice) for choice in action.choices or ())
            if action.type in (target_argument, targets_argument):
                values = tuple(target_names())
            several = action.type is chosen_languages
            if several:
                values = (*LANGUAGES, "all")
            takes = action.nargs != 0
            names = tuple(action.option_strings)
            command.options.append(Option(names, action.help or "", takes, values, several))
    return command


def _nn_opt() -> Command:
    from ..lowering.catalog import all_passes
    from ..lowering.pipelines import named_pipelines
    from .opt_options import GROUPS

    steps = [
        Option(
            (f"--{one.name}",),
            one.summary(),
            values=tuple(f"{f.name.replace('_', '-')}=" for f in one.options()),
        )
        for one in all_passes()
    ]
    steps += [Option((f"--{name}",), summary) for name, (summary, _) in named_pipelines().items()]
    return command_from_flags("nn-opt", GROUPS, steps)


def _nnc() -> Command:
    from .nnc_options import argument_parser

    return command_from_parser("nnc", argument_parser())


def _nn_run() -> Command:
    from .run_options import build_parser

    return command_from_parser("nn-run", build_parser())


_COMMANDS = {"nn-opt": _nn_opt, "nn-run": _nn_run, "nnc": _nnc}


# -- bash ------------------------------------------------------------------------------------------

_BASH = """\
# Completion of {tool} for bash; made by {tool} --completion bash.
_{function}() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} option="" subcommand="" i
    # `=` breaks words: --option = value.
    if [[ $cur == "=" ]]; then
        option=${{COMP_WORDS[COMP_CWORD-1]}} cur=""
    elif (( COMP_CWORD > 1 )) && [[ ${{COMP_WORDS[COMP_CWORD-1]}} == "=" ]]; then
        option=${{COMP_WORDS[COMP_CWORD-2]}}
    elif [[ $cur == -*=* ]]; then
        option=${{cur%%=*}} cur=${{cur#*=}}
    elif (( COMP_CWORD > 1 )) && [[ $cur != -* ]]; then
        case ${{COMP_WORDS[COMP_CWORD-1]}} in
            {takers}) option=${{COMP_WORDS[COMP_CWORD-1]}} ;;
        esac
    fi
    for (( i = 1; i < COMP_CWORD; i++ )); do
        case $subcommand${{subcommand:+ }}${{COMP_WORDS[i]}} in
            {subcommands}) subcommand=$subcommand${{subcommand:+ }}${{COMP_WORDS[i]}} ;;
        esac
    done
    COMPREPLY=()
    compopt +o nospace 2>/dev/null
    if [[ -n $option ]]; then
        local head=""
        case $option in
{values}
            *) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
        esac
        return
    fi
    if [[ $cur == -* ]]; then
        case $subcommand in
{options}
        esac
        [[ ${{#COMPREPLY[@]}} == 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null
        return
    fi
{first}\
    COMPREPLY=($(compgen -f -- "$cur"))
    compopt -o filenames 2>/dev/null
}}
complete -F _{function} {tool}
"""


def _bash(command: Command) -> str:
    pairs = list(_everything(command))
    takers = [n for _, o in pairs if o.takes_value for n in o.names]
    inner = list(_subcommands(command))
    subcommands = "|".join(f"'{path}'" for path, _, _ in inner) or "''"
    values = [line for _, option in pairs for line in _bash_values(option)]
    options = []
    first = ["    case $subcommand in"]
    for sub, one in (("", command), *((path, c) for path, _, c in inner)):
        words = " ".join(_spelled(option) for option in one.options)
        options.append(f'            \'{sub}\') COMPREPLY=($(compgen -W "{words}" -- "$cur")) ;;')
        if one.subcommands:
            words = " ".join(one.subcommands)
            first.append(
                f'        \'{sub}\') COMPREPLY=($(compgen -W "{words}" -- "$cur")); return ;;'
            )
    first = [*first, "    esac", ""] if command.subcommands else []
    return _BASH.format(
        tool=command.name,
        function=command.name.replace("-", "_"),
        takers="|".join(dict.fromkeys(takers)) or "''",
        subcommands=subcommands,
        values="\n".join(dict.fromkeys(values)),
        options="\n".join(options),
        first="\n".join(first),
    )


def _bash_values(option: Option) -> Iterator[str]:
    names = "|".join(option.names)
    if option.values:
        words = " ".join(option.values)
        if option.several:
            split = "[[ $cur == *,* ]] && head=${cur%,*}, cur=${cur##*,}; "
            yield (
                f'            {names}) {split}COMPREPLY=($(compgen -P "$head" -W "{words}" -- '
                f'"$cur")) ;;'
            )
        else:
            nospace = "compopt -o nospace 2>/dev/null; " if option.values[0][-1] == "=" else ""
            yield (
                f'            {names}) {nospace}COMPREPLY=($(compgen -W "{words}" -- "$cur")) ;;'
            )
    elif option.folders_only:
        yield f'            {names}) COMPREPLY=($(compgen -d -- "$cur")) ;;'


def _spelled(option: Option) -> str:
    """The option's long spelling, with `=` if a value must follow."""
    name = next((n for n in option.names if n.startswith("--")), option.names[0])
    return f"{name}=" if option.takes_value and name.startswith("--") else name


def _subcommands(command: Command, above: str = "") -> Iterator[tuple[str, str, Command]]:
    """Each subcommand with its full name, its help, and the nested ones."""
    for name, (help, inner) in command.subcommands.items():
        yield above + name, help, inner
        yield from _subcommands(inner, f"{above}{name} ")


def _everything(command: Command) -> Iterator[tuple[Command, Option]]:
    for option in command.options:
        yield command, option
    for _, inner in command.subcommands.values():
        yield from _everything(inner)


# -- zsh -------------------------------------------------------------------------------------------


def _zsh(command: Command) -> str:
    function = f"_{command.name.replace('-', '_')}"
    lines = [
        f"#compdef {command.name}",
        f"# Completion of {command.name} for zsh; made by {command.name} --completion zsh.",
        f"{function}() {{",
    ]
    lines += _zsh_level(command, 2, "    ")
    lines += [
        "}",
        f'if [[ $funcstack[1] == {function} ]]; then {function} "$@"; '
        f"else compdef {function} {command.name}; fi",
    ]
    return "\n".join(lines) + "\n"


def _zsh_level(command: Command, word: int, indent: str) -> Iterator[str]:
    """Lines of zsh that complete a command whose subcommand, if any, is word number `word`."""
    if not command.subcommands:
        yield f"{indent}_arguments -S : \\"
        yield from _zsh_options(command.options, len(indent) + 4)
        yield f"{indent}    '*:file:_files'"
        return
    yield f"{indent}if (( CURRENT == {word} )); then"
    yield f"{indent}    local -a subcommands=("
    for name, (help, _) in command.subcommands.items():
        yield f"{indent}        {_quoted(f'{name}:{help}')}"
    yield f"{indent}    )"
    yield f"{indent}    _describe command subcommands; _arguments -S : \\"
    yield from _zsh_options(command.options, len(indent) + 8)
    yield f"{indent}        && return"
    yield f"{indent}    return"
    yield f"{indent}fi"
    yield f"{indent}case $words[{word}] in"
    for name, (_, inner) in command.subcommands.items():
        yield f"{indent}    {name})"
        yield from _zsh_level(inner, word + 1, indent + " " * 8)
        yield f"{indent}        ;;"
    yield f"{indent}esac"


def _zsh_options(options: Iterable[Option], indent: int) -> Iterator[str]:
    for option in options:
        help = option.help.replace("[", "(").replace("]", ")").replace(":", " ")
        action = "_files -/" if option.folders_only else "_files"
        if option.values:
            words = " ".join(option.values)
            action = f"_sequence compadd - {words}" if option.several else f"({words})"
        for name in option.names:
            equals = "=" if name.startswith("--") else ""
            if option.takes_value:
                text = f"*{name}{equals}[{help}]:value:{action}"
            elif option.values:
                text = f"*{name}{equals and '=-'}[{help}]::value:{action}"
            else:
                text = f"*{name}[{help}]"
            yield f"{' ' * indent}{_quoted(text)} \\"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# -- fish ------------------------------------------------------------------------------------------


def _fish(command: Command) -> str:
    lines = [
        f"# Completion of {command.name} for fish; made by {command.name} --completion fish.",
    ]
    lines += _fish_level(command.name, command, [])
    return "\n".join(lines) + "\n"


def _fish_level(tool: str, command: Command, seen: list[str]) -> Iterator[str]:
    """Lines of fish that complete a command, under the conditions that lead to it."""
    yield from _fish_options(tool, command.options, _fish_when(seen))
    if not command.subcommands:
        return
    none = f"not __fish_seen_subcommand_from {' '.join(command.subcommands)}"
    for name, (help, _) in command.subcommands.items():
        yield f"complete -c {tool}{_fish_when([*seen, none])} -f -a {name} -d {_fish_quoted(help)}"
    for name, (_, inner) in command.subcommands.items():
        # `nnc remote package` has the word of `nnc package` in it.
        others = [o for o, (_, other) in command.subcommands.items() if name in other.subcommands]
        here = [f"__fish_seen_subcommand_from {name}"]
        here += [f"not __fish_seen_subcommand_from {other}" for other in others]
        yield from _fish_level(tool, inner, [*seen, *here])


def _fish_when(conditions: list[str]) -> str:
    return f" -n '{'; and '.join(conditions)}'" if conditions else ""


def _fish_options(tool: str, options: Iterable[Option], when: str) -> Iterator[str]:
    for option in options:
        spelled = " ".join(
            f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names
        )
        value = ""
        if option.folders_only:
            value = " -x -a '(__fish_complete_directories)'"
        elif option.values and option.takes_value:
            value = f" -x -a {_fish_quoted(' '.join(option.values))}"
        elif option.values:
            value = f" -f -a {_fish_quoted(' '.join(option.values))}"
        elif option.takes_value:
            value = " -r"
        yield f"complete -c {tool}{when} {spelled}{value} -d {_fish_quoted(option.help)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
