"""Rust: a crate without dependencies."""

from ..language import Language, elements, words

_ELEMENTS = elements("f64 f32 u16 u16 i64 i32 i16 i8 u64 u32 u16 u8 bool")

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
