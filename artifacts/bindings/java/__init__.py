"""Java from 22 on: a class on the foreign-function API, without code in C."""

import json

from ..language import EVERYWHERE, Language, elements, words
from ..names import camel_case

ELEMENTS = elements("double float short short long int short byte long int short byte boolean")

# The first line: what a component of a record may not be called, and packages of Java's own.
RESERVED = words(
    """
    clone finalize getClass hashCode notify notifyAll toString wait java javax
    abstract assert boolean break byte case catch char class const continue default do double else
    enum extends false final finally float for goto if implements import instanceof int interface
    long native new null package private protected public record return sealed short static
    strictfp super switch synchronized this throw throws transient true try var void volatile while
    yield Inputs Outputs Native Example Object String Path ByteBuffer ByteOrder AutoCloseable
    LibraryException RuntimeException IllegalArgumentException IllegalStateException Arrays
    """
)
RESERVED |= {f"{name.capitalize()}Tensor" for name in ELEMENTS.values()}

LANGUAGE = Language(
    name="java",
    title="Java",
    files={
        "model.java": "src/{module}/{type}.java",
        "native.java": "src/{module}/Native.java",
        "example.java": "src/Example.java",
    },
    elements=ELEMENTS,
    reserved=RESERVED,
    needs="a JDK, from 22 on",
    build="javac -d classes src/*.java src/{{ model.module }}/*.java",
    run="java --enable-native-access=ALL-UNNAMED -cp classes Example",
    identifier=camel_case,
    module=lambda words: "".join(words).lower(),
    quote=json.dumps,
    input_types=("{type}[]", "{Type}Tensor"),
    output_types=("{type}[]", "{Type}Tensor"),
    systems=EVERYWHERE,
)
