"""Go: a package on cgo."""

from ..language import Language, words
from ..names import pascal_case

_ELEMENTS = {
    "f64": "float64",
    "f32": "float32",
    "f16": "uint16",
    "bf16": "uint16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "ui64": "uint64",
    "ui32": "uint32",
    "ui16": "uint16",
    "ui8": "uint8",
    "i1": "bool",
}

LANGUAGE = Language(
    name="go",
    title="Go",
    files={"go.mod": "go.mod", "model.go": "{module}.go", "example.go": "example/main.go"},
    elements=_ELEMENTS,
    reserved=words(
        """
        break case chan const continue default defer else fallthrough for func go goto if import
        interface map package range return select struct switch type var main errors fmt runtime
        sync unsafe math test
        """
    ),
    needs="Go 1.18 or newer and a C compiler",
    build="go build -o bin/ ./example",
    run="./bin/example",
    identifier=pascal_case,
    module=lambda words: "".join(words).lower(),
    input_types=("[]{type}", "Tensor[{type}]"),
    output_types=("[]{type}", "Tensor[{type}]"),
)
