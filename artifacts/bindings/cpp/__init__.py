"""C++20: a header with a class that owns its context, and spans."""

from ..c import KEYWORDS, TYPES
from ..language import EVERYWHERE, Language, words

LANGUAGE = Language(
    name="cpp",
    title="C++",
    files={
        "model.hpp": "{prefix}.hpp",
        "example.cpp": "example.cpp",
        "CMakeLists.txt": "CMakeLists.txt",
    },
    elements={
        code: f"std::{name}" if name.endswith("_t") else name for code, name in TYPES.items()
    },
    reserved=KEYWORDS
    | words(
        """
        alignas and and_eq bitand bitor catch class co_await co_return co_yield compl concept
        const_cast consteval constinit decltype delete dynamic_cast explicit export friend module
        mutable namespace new noexcept not not_eq operator or or_eq private protected public
        reinterpret_cast requires static_cast std template this throw try typeid typename using
        virtual wchar_t char8_t char16_t char32_t xor xor_eq Inputs Outputs Model main import
        """
    ),
    needs="a C++20 compiler and CMake",
    build="cmake -B build && cmake --build build",
    run="./build/example",
    identifier="_".join,
    input_types=("std::span<const {type}>", "View<{type}, {rank}>"),
    output_types=("std::vector<{type}>", "Tensor<{type}, {rank}>"),
    systems=EVERYWHERE,
)
