"""JavaScript in Node: an addon on Node-API, which is C and stable across Node's versions."""

import json

from ..language import Language, elements, words

_ARRAYS = elements(
    "Float64Array Float32Array Uint16Array Uint16Array BigInt64Array Int32Array "
    "Int16Array Int8Array BigUint64Array Uint32Array Uint16Array Uint8Array Uint8Array"
)

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
