"""Memory of open shapes stays from call to call: what models of any batch take from C's heap.

The values are ONNX Runtime's, the bytes are those that an allocator counts.
"""

from __future__ import annotations

import threading

import numpy as np
import onnx.parser
import onnxruntime
import pytest
from nnc.driver.compile import load_module, run_stages
from nnc.driver.program import compile_module
from nnc.ir.diagnostics import NncError

from ..runtime.counted import CountedHeap

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[b,n,64] x, float[64,512] w, float[512,512] v, bool wide, int64 steps) => (float[b,n,512] y)
{
  h = MatMul(x, w)
  s = Softmax<axis=-1>(h)
  i = If (wide) <
    then_branch = t () => (float[b,n,512] p) { e = Exp(s) f = MatMul(e, v) p = Softmax<axis=-1>(f) },
    else_branch = f () => (float[b,n,512] q) { q = Neg(s) }>
  go = Constant<value=bool {1}>()
  y = Loop (steps, go, i) <
    body = b (int64 k, bool c, float[B,N,512] z) => (bool more, float[B,N,512] next) {
      tanh = Tanh(z) product = MatMul(tanh, v) soft = Softmax<axis=-1>(product)
      next = Add(soft, z) more = Identity(c)
    }>
}"""
W, V = (np.random.default_rng(0).standard_normal((n, 512), np.float32) / 16 for n in (64, 512))


def inputs(batch: int, length: int, wide: bool = True, steps: int = 2) -> dict:
    x = np.random.default_rng(batch * length).standard_normal((batch, length, 64), np.float32)
    return {"x": x, "w": W, "v": V, "wide": np.array(wide), "steps": np.array(steps)}


@pytest.fixture(scope="module")
def model():
    return onnx.parser.parse_model(TEXT)


@pytest.fixture(scope="module")
def wanted(model):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return lambda given: session.run(None, given)[0]


@pytest.fixture(scope="module")
def made(model):
    heap = CountedHeap()
    return compiled(model, heap), heap


@pytest.fixture
def run(made):
    yield made[0]
    made[0].release_memory()


@pytest.fixture
def heap(made):
    return made[1]


def compiled(model, heap):
    module = load_module(model)
    run_stages(module)
    heap.put_into(module)
    made = compile_module(module)
    made._heap._free = heap.free  # of results, C's otherwise
    return made


def test_calls_of_one_shape_take_nothing_new(run, heap, wanted):
    for given in (inputs(2, 300), inputs(2, 300, wide=False, steps=3)):
        for _ in range(2):
            run.run(given)
        taken = len(heap.taken)
        for _ in range(3):
            np.testing.assert_allclose(run.run(given)["y"], wanted(given), rtol=1e-4, atol=1e-5)
        assert len(heap.taken) == taken


def test_shapes_in_turn_hold_what_the_largest_needs(run, heap, wanted):
    run.run(inputs(3, 400))
    run.run(inputs(3, 400))
    held = heap.bytes
    for batch, length, steps in ((1, 1, 0), (2, 7, 5), (3, 400, 2), (1, 350, 1)):
        given = inputs(batch, length, steps=steps)
        np.testing.assert_allclose(run.run(given)["y"], wanted(given), rtol=1e-4, atol=1e-5)
        assert heap.bytes <= held


def test_results_stay_what_they_are(run, wanted):
    """Arrays that the caller has are not written by later calls."""
    given = [inputs(2, length) for length in (300, 310, 290, 300)]
    found = [run.run(one)["y"] for one in given]
    views = [one[1:, ::2] for one in found]
    del found
    run.run(given[0])
    for one, view in zip(given, views, strict=True):
        np.testing.assert_allclose(view, wanted(one)[1:, ::2], rtol=1e-4, atol=1e-5)


def test_a_failed_call_keeps_no_more(run, heap, wanted):
    given = inputs(2, 300)
    for _ in range(2):
        run.run(given)
    held, taken = heap.bytes, len(heap.taken)
    heap.limit = held + 6_000_000  # one buffer of 4.9 MB more
    with pytest.raises(NncError, match="not enough memory"):
        run.run(inputs(8, 300))
    heap.limit = None
    assert heap.bytes <= held
    assert len(heap.taken) > taken
    expected = wanted(given)
    for _ in range(2):
        np.testing.assert_allclose(run.run(given)["y"], expected, rtol=1e-4, atol=1e-5)


def test_all_goes_back_when_told_and_in_the_end(model):
    heap = CountedHeap()
    run = compiled(model, heap)
    for _ in range(2):
        run.run(inputs(2, 300))
    y = run.run(inputs(2, 300))["y"]
    assert heap.blocks
    run.release_memory()
    assert heap.bytes == y.nbytes
    run.run(inputs(2, 300))
    del y, run
    assert not heap.blocks


def test_each_thread_has_memory_of_its_own(run, heap, wanted):
    given = [inputs(2, length) for length in (100, 200, 300)]
    expected = [wanted(one) for one in given]
    wrong = []

    def work(i):
        for _ in range(10):
            if not np.allclose(run.run(given[i])["y"], expected[i], rtol=1e-4, atol=1e-5):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    run.release_memory()
    assert not heap.blocks
