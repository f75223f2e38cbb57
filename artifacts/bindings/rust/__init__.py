"""Rust: a crate without dependencies."""

from ..language import Language, words

_ELEMENTS = {
    "f64": "f64",
    "f32": "f32",
    "f16": "u16",
    "bf16": "u16",
    "i64": "i64",
    "i32": "i32",
    "i16": "i16",
    "i8": "i8",
    "ui64": "u64",
    "ui32": "u32",
    "ui16": "u16",
    "ui8": "u8",
    "i1": "bool",
}

LANGUAGE = Language(
    name="rust",
    title="Rust",
    files={
        "Cargo.toml": "Cargo.toml",
        "build.rs": "build.rs",
        "lib.rs": "src/lib.rs",
        "example.rs": "examples/example.rs",
    },
    elements=_ELEMENTS,
    reserved=words(
        """
        abstract alloc as async await become box break build const continue core crate deps do dyn
        else enum example examples extern false final fn for gen if impl in incremental let loop
        macro match mod move mut override priv proc_macro pub ref return self static std struct
        super test trait true try type typeof union unsafe unsized use virtual where while yield
        """
    ),
    needs="Cargo, from Rust 1.63 on",
    build="cargo build --release --examples",
    run="cargo run --release --example example",
    input_types=("&'a [{type}]", "View<'a, {type}, {rank}>"),
    output_types=("Vec<{type}>", "Tensor<{type}, {rank}>"),
    more={"zero": dict.fromkeys(_ELEMENTS, "0") | {"f64": "0.0", "f32": "0.0", "i1": "false"}},
)
