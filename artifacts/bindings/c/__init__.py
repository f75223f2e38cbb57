"""C: the header of the library, a Makefile and a program that uses both."""

from ..language import Language, words

TYPES = {
    "f64": "double",
    "f32": "float",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "i64": "int64_t",
    "i32": "int32_t",
    "i16": "int16_t",
    "i8": "int8_t",
    "ui64": "uint64_t",
    "ui32": "uint32_t",
    "ui16": "uint16_t",
    "ui8": "uint8_t",
    "i1": "uint8_t",
}
"""The C type of each element type; types that C lacks are integers of the same size."""

KEYWORDS = words(
    """
    alignas alignof asm auto bool break case char complex const constexpr continue default do double
    else enum extern false float for goto if imaginary inline int long nullptr register restrict
    return short signed sizeof static static_assert struct switch thread_local true typedef typeof
    unix linux union unsigned void volatile while NULL EOF errno stdin stdout stderr
    """
)

LANGUAGE = Language(
    name="c",
    title="C",
    files={"Makefile": "Makefile", "example.c": "example.c"},
    elements=TYPES,
    reserved=KEYWORDS,
    needs="a C compiler and make",
    build="make",
    run="./example",
    more={
        "printf": {
            **dict.fromkeys(TYPES, '"%d"'),
            **dict.fromkeys(("f64", "f32"), '"%.9g"'),
            "i64": '"%" PRId64',
            "ui64": '"%" PRIu64',
            "ui32": '"%" PRIu32',
        }
    },
)
