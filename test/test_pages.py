"""What pages name is there: links, files, commands with their options, variables, decisions."""

import argparse
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path, PurePath

import pytest
from nnc.tools.nnc_options import COMMANDS, argument_parser

ROOT = Path(__file__).resolve().parent.parent
OTHERS = ("--build-arg", "--data-binary", "--fail-with-body")
"""Options of docker and curl that pages show."""
SOURCES = (".py", ".c", ".h", ".mjs", ".jinja", ".sh", ".toml", "Dockerfile", "run")


def tracked() -> list[str]:
    """The files of the repository, below its root."""
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:  # an unpacked archive
        return [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
    return done.stdout.splitlines()


FILES = tracked()
FOLDERS = {str(folder) for file in FILES for folder in PurePath(file).parents}
ROOMS = {file.partition("/")[0] for file in FILES if "/" in file}
PAGES = [file for file in FILES if file.endswith(".md") and not file.startswith("docs/dialects/")]


@cache
def source() -> str:
    """All that programs say."""
    paths = [ROOT / file for file in FILES if file.endswith(SOURCES)]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


@cache
def option_names() -> set[str]:
    """What stands behind dashes or alone in quotes in some program: passes are options, too."""
    found = re.findall(r"""--([a-z][\w-]*)|["']([a-z][\w-]*)["']""", source())
    return {name for pair in found for name in pair}


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    wrong = [f"link {link}" for link in links(text) if not leads_somewhere(page, link)]
    for words in code(text):
        wrong += [f"{words}: {what}" for what in (*missing_files(page, words), *unknown(words))]
    wrong += [name for name in re.findall(r"\bNNC_[A-Z_]+\b", text) if name not in source()]
    for number in re.findall(r"[Dd]ecision (\d{4})", text):
        if not any(file.startswith(f"docs/decisions/{number}-") for file in FILES):
            wrong.append(f"decision {number}")
    assert not wrong


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_in_a_commands_help_is_one(name: str) -> None:
    _, example, _ = COMMANDS[name]
    tool, *words = shlex.split(example)
    assert (tool, words[0]) == ("nnc", name)
    assert argument_parser().parse_args(words).command == name


def links(text: str) -> list[str]:
    """The targets of links that lead to no other server."""
    return [to for to in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", to)]


def leads_somewhere(page: str, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = ROOT / page if not file else (ROOT / page).parent / file
    if not target.exists():
        return False
    headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M) if anchor else []
    return not anchor or anchor in {anchor_of(heading) for heading in headings}


def anchor_of(heading: str) -> str:
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def code(text: str) -> list[str]:
    """Spans of code in prose, and the lines of commands."""
    blocks = re.findall(r"^```(?:sh|bash)\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"^    ((?:nnc|nn-opt|nn-run|python) .*)$", text, re.M)
    spans = re.findall(
        r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    )
    return [*spans, *(line.partition("  #")[0] for line in lines)]


def missing_files(page: str, words: str) -> list[str]:
    """Files, folders and modules of the repository that are named but not there."""
    named = re.findall(r"\bpython (?:-m )?((?:bench|fuzz|docs|examples|test)[\w./]+)", words)
    if words.partition("/")[0] in ROOMS and re.fullmatch(r"[\w.-]+(/[\w.*-]+)+/?", words):
        named += [words] if not re.search("[A-Z]{3}", words) else []
    return [
        name
        for name in named
        if not is_there(name) and not is_there(f"{PurePath(page).parent}/{name}")
    ]


def is_there(name: str) -> bool:
    path = name.rstrip("/") if "/" in name else name.replace(".", "/")
    found = path in FOLDERS or path in FILES or f"{path}.py" in FILES
    return found or ("*" in path and any(PurePath(file).match(path) for file in FILES))


def unknown(words: str) -> list[str]:
    """Commands and options that nnc does not have; those of other programs' where no source has them."""
    given = re.findall(r"(?<![\w-])--[a-z][\w-]*", words)
    command = re.match(r"(?:.*&& )?nnc ([a-z].*)", words)
    if command is None:
        return [one for one in given if one not in OTHERS and one[2:] not in option_names()]
    parser = argument_parser()
    for word in command[1].split():
        inner = next(
            (a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None
        )
        if inner is None or re.fullmatch("[A-Z]+|--.*", word):
            break
        if word not in inner.choices:
            return [f"no command {word}"]
        parser = inner.choices[word]
    known = {option for action in parser._actions for option in action.option_strings}
    return [one for one in given if one not in known]
