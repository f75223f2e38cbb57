"""Swift: a module map, by which it imports the C header."""

from ..c import LANGUAGE as C
from ..language import Language

LANGUAGE = Language(
    name="swift",
    title="Swift",
    files={"module.modulemap": "module.modulemap"},
    elements=C.elements,
    reserved=C.reserved,
    needs="Swift; with the program in `main.swift`",
    build="swiftc -I . -L .. -Xlinker -rpath -Xlinker .. main.swift -o main",
    run="./main",
)
