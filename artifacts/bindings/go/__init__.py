"""Go: a package on cgo."""

from ..language import Language, elements, words
from ..names import pascal_case

_ELEMENTS = elements(
    "float64 float32 uint16 uint16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool"
)

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
