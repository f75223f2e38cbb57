"""C's functions on vectors do what its functions on scalars do, lane by lane."""

import subprocess
from dataclasses import replace
from itertools import product

import pytest
from nnc.targets.c import entry
from nnc.targets.c.language import C
from nnc.targets.source.module import numbers_text

from .test_c import COMPILERS

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif("gcc" not in COMPILERS, reason="no C compiler"),
]

COUNTS = (4, 8, 16)
CONVERSIONS = [
    (f"{to}_from{kind}", source, f"({C.scalars[to]})({C.scalars[letter + source[1:]]})a[i]", to)
    for kind, letter in (("", "u"), ("_signed", "i"))
    for to in ("u8", "u16", "u32", "u64", "f32")
    for source in ("u8", "u16", "u32", "u64")
    if to != source
]
INTEGERS = [
    (name, kind, f"{name}_{kind[1:]}(a[i]{', b[i]' * (name != 'absi')})", kind)
    for name in ["minsi", "maxsi", "minui", "maxui", "shli", "shrui", "shrsi", "absi"]
    for kind in ("u8", "u16", "u32", "u64")
]
FLOATS = [
    (name, kind, f"{name}_{kind[1:]}(a[i], b[i])", kind)
    for name in ("maxnum", "minnum")
    for kind in ("f32", "f64")
]
CASE = """
static int case_{number}(void) {{
    {T} a, b;
    {R} found;
    int i, same = 1;
    fill(&a, sizeof a);
    fill(&b, sizeof b);
    {few}
    found = {name}({arguments});
    for (i = 0; i < {count}; i++) same &= found[i] == {lane} || found[i] != found[i];
    return same;
}}
"""
FILL = """
static uint32_t state = 1;
static void fill(void *to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        ((unsigned char *)to)[i] = (unsigned char)(state >> 24);
    }
}
"""


def program() -> tuple[str, list[str]]:
    """A program that gives the number of the first function that is wrong, and their names."""
    language, cases, names = replace(C, needed={}), [], []
    for (function, source, lane, to), count in product(CONVERSIONS + INTEGERS + FLOATS, COUNTS):
        name = language.helper(function, source, count)
        shift = function.startswith("sh")
        words = {
            "number": len(names),
            "T": language.vector(source, count),
            "R": language.vector(to, count),
            "few": f"b %= (uint{source[1:]}_t){int(source[1:]) + 2};" if shift else "",
            "name": name,
            "arguments": "a" if "_from" in function or function == "absi" else "a, b",
            "count": count,
            "lane": lane,
        }
        cases.append(CASE.format(**words))
        names.append(name)
    calls = "".join(
        f"if (!case_{i}() || !case_{i}() || !case_{i}()) return {i};\n" for i in range(len(names))
    )
    folder = entry._HERE
    parts = [
        "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n",
        entry.TENSOR,
        (folder / "prelude.h").read_text(),
        numbers_text(),
        (folder / "vectors.h").read_text(),
        *language.needed.values(),
        FILL,
        *cases,
        f"static int wrong(void) {{\n{calls}return -1;\n}}\n",
        'int main(void) { printf("%d", wrong()); return 0; }\n',
    ]
    return "".join(parts), names


@pytest.mark.parametrize(
    ("compiler", "level"), [("gcc", "native"), ("gcc", "x86-64-v2"), ("clang", "native")]
)
def test_lanes(compiler, level, tmp_path):
    if compiler not in COMPILERS:
        pytest.skip("no C compiler")
    text, names = program()
    (tmp_path / "main.c").write_text(text)
    flags = ["-std=c99", "-w", "-O1", f"-march={level}"]
    command = [*COMPILERS[compiler], *flags, "main.c", "-o", "main", "-lm"]
    subprocess.run(command, check=True, cwd=tmp_path)
    found = int(subprocess.run(tmp_path / "main", capture_output=True, check=True).stdout)
    assert found == -1, names[found]
