"""Make a folder with a page that classifies pictures in the browser, by any classifier in ONNX.

    python examples/web/build.py model.onnx --about about.json -o site [--serve]

`about.json` says what the page shows and which pixels the model takes: (red, green, blue in 0..1 -
`mean`) / `scale`.

    {"title": .., "text": .., "labels": [..],
     "mean": [0.485, 0.456, 0.406], "scale": [0.229, 0.224, 0.225],
     "fit": "stretch" or "left", "shares": whether the outputs are probabilities}

The model takes one picture, [1, 3, height, width]. With `fit` "left" a picture keeps its ratio and
is padded on the right. With `--gpu` the page runs the model on the GPU, or says why it cannot.
`--serve` serves the folder on the loopback with the headers that allow a page shared memory, and so
several threads.
"""

from __future__ import annotations

import argparse
import json
import shutil
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nnc
from nnc.tools.nnc import main as nnc_main

HERE = Path(__file__).parent


def build(
    model: Path, about: Path, site: Path, shape: str | None = None, gpu: bool = False
) -> None:
    """Write the folder `site`: the page, and the model compiled for WebAssembly and WebGPU."""
    shown = json.loads(about.read_text()) | {"gpu": gpu}
    site.mkdir(parents=True, exist_ok=True)
    for name in ("index.html", "classify.mjs"):
        shutil.copyfile(HERE / name, site / name)
    (site / "about.json").write_text(json.dumps(shown))
    options = ["--shape", shape] if shape else []
    targets = {"wasm32-simd": "model.wasm"} | ({"webgpu": "gpu.mjs"} if gpu else {})
    for target, name in targets.items():
        chosen = ["--target", target, "-o", str(site / name)]
        if nnc_main(["compile", str(model), *chosen, *options]):
            raise SystemExit(1)


class Handler(SimpleHTTPRequestHandler):
    """Serves files with the headers that shared memory needs."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        """Add the headers."""
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--about", type=Path, default=HERE / "about.json")
    parser.add_argument("--shape", help="as in `nnc compile --shape`, for dynamic dimensions")
    parser.add_argument("-o", "--output", type=Path, default=Path("site"))
    parser.add_argument("--gpu", action="store_true", help="also compile for the browser's GPU")
    parser.add_argument("--serve", action="store_true")
    args = parser.parse_args()
    try:
        build(args.model, args.about, args.output, args.shape, args.gpu)
        if args.serve:
            serve(args.output)
    except (OSError, ValueError) as error:
        parser.error(str(error))


def serve(site: Path) -> None:
    """Serve the folder until Ctrl-C."""
    server = ThreadingHTTPServer(("127.0.0.1", 8000), partial(Handler, directory=str(site)))
    print(f"http://127.0.0.1:8000 (nnc {nnc.__version__}); end with Ctrl-C", flush=True)
    with suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
