"""C: the header of the library, a Makefile and a program that uses both."""

from ..language import Language, elements, words

TYPES = elements(
    "double float uint16_t uint16_t int64_t int32_t int16_t int8_t uint64_t uint32_t "
    "uint16_t uint8_t uint8_t"
)
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
