"""JavaScript in Node: an addon on Node-API, which is C and stable across Node's versions."""

import json

from ..language import Language, words

_ARRAYS = {
    "f64": "Float64Array",
    "f32": "Float32Array",
    "f16": "Uint16Array",
    "bf16": "Uint16Array",
    "i64": "BigInt64Array",
    "i32": "Int32Array",
    "i16": "Int16Array",
    "i8": "Int8Array",
    "ui64": "BigUint64Array",
    "ui32": "Uint32Array",
    "ui16": "Uint16Array",
    "ui8": "Uint8Array",
    "i1": "Uint8Array",
}

LANGUAGE = Language(
    name="node",
    title="JavaScript in Node",
    files={
        "package.json": "package.json",
        "binding.gyp": "binding.gyp",
        "build.mjs": "build.mjs",
        "addon.c": "addon.c",
        "index.mjs": "index.mjs",
        "index.d.ts": "index.d.ts",
        "example.mjs": "example.mjs",
    },
    elements=_ARRAYS,
    reserved=words("fs test node_modules favicon_ico"),
    needs="Node 18 or newer with its headers, and a C compiler",
    build="npm install",
    run="node example.mjs",
    identifier=None,
    quote=json.dumps,
)
