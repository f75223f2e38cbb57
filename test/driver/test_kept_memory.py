"""A library's memory between calls: what its context keeps, and gives back when told or in the end."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import onnx.parser
import pytest
from nnc.tools import nnc as nnc_tool

from ..processor import runnable

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,m] x) => (float[n,m] y)
{ s = Softmax<axis=0>(x) t = Softmax<axis=1>(x) p = Mul(s, t) y = Tanh(p) }"""

MAIN = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

static float x[400 * 500];

int main(void) {
    nnc_context *context;
    if (nnc_create(&context, NULL, 1)) return 2;
    int64_t small[2] = {3, 5}, large[2] = {400, 500}, shape[2];
    nnc_tensor input = {x, large}, output = {NULL, shape};
    void *last = NULL;
    for (int i = 0; i < 4; i++) {
        if (nnc_call(context, &input, &output)) return 3;
        if (shape[0] != 400 || shape[1] != 500) return 4;
        const float expected = tanhf(1.0f / (400 * 500)), *y = output.data;
        for (int k = 0; k < 400 * 500; k++)
            if (fabsf(y[k] - expected) > 1e-9f) return 5;
        if (last && output.data != last) return 6;
        last = output.data;
        nnc_give_back(context, last, sizeof x);
    }
    nnc_trim(context); /* frees it */
    input.shape = small;
    if (nnc_call(context, &input, &output) || shape[0] != 3) return 7;
    nnc_free(output.data);
    nnc_give_back(context, NULL, 0);
    nnc_destroy(context);

    void *arena = aligned_alloc(64, (NNC_ARENA_BYTES + 63) / 64 * 64);
    memset(arena, 0, NNC_HEAP_BYTES);
    float none[16];
    for (int i = 0; i < 3; i++) {
        if (nnc_run(&input, &output, arena, none, NULL)) return 8;
        nnc_reuse(arena, output.data, 64);
    }
    nnc_release(arena);
    free(arena);
    return 0;
}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("targets", [["host"], runnable("x86-64", "x86-64-v2")])
def test_outputs_come_again_and_nothing_leaks(targets: list[str], tmp_path: Path):
    """For one target as for several levels; the sanitizer sees leaks, and use of what is freed."""
    if not targets:
        pytest.skip("the levels are those of x86")
    onnx.save(onnx.parser.parse_model(TEXT), tmp_path / "m.onnx")
    arguments = ["compile", str(tmp_path / "m.onnx"), "--quiet", "-o", str(tmp_path / "model.so")]
    arguments += ["--target", ",".join(targets)]
    assert nnc_tool.main(arguments) == 0
    (tmp_path / "main.c").write_text(MAIN)
    build = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address"]
    build += ["main.c", "./model.so", "-o", "main", "-lm"]
    subprocess.run(build, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "model.json").read_text())["arena_bytes"] >= 512
