"""Planning memory: buffers that live together do not overlap, and nothing else changes."""

import nnc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nnc.dialects import func, memref
from nnc.ir.passes import PassContext
from nnc.ir.rewriting import constant_int
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.mark_in_place import MarkInPlace
from nnc.memory.memory_plan import Buffer, plan
from nnc.memory.plan_memory import PlanMemory
from nnc.numerics.interpreter import Interpreter
from nnc.runtime.abi import ALIGNMENT, aligned

from ..processor import runnable

BUFFERS = st.lists(
    st.builds(
        lambda size, first, length: Buffer(size, first, first + length),
        st.integers(0, 5000),
        st.integers(0, 20),
        st.integers(0, 10),
    ),
    max_size=25,
)


@given(BUFFERS)
@settings(max_examples=200, deadline=None)
def test_plans_are_valid(buffers):
    made = plan(buffers)
    spans = []
    for buffer, offset in zip(buffers, made.offsets, strict=True):
        assert offset % ALIGNMENT == 0
        assert offset + buffer.size <= made.size
        spans.append((buffer, offset, offset + aligned(buffer.size)))
    for i, (a, start, end) in enumerate(spans):
        for b, other, until in spans[:i]:
            together = a.first <= b.last and b.first <= a.last
            assert not together or end <= other or until <= start
    live = [sum(aligned(b.size) for b in buffers if b.first <= t <= b.last) for t in range(31)]
    assert made.lower_bound == max(live, default=0) <= made.size


def test_no_worse_than_by_first_use():
    """A chain of buffers, each alive with the next only, needs the two largest neighbours."""
    sizes = [640, 64, 1280, 256, 1024]
    buffers = [Buffer(s, i, i + 1) for i, s in enumerate(sizes)]
    assert plan(buffers).size == 1280 + 256


MODEL = """
    memref.global "private" constant @w : memref<16xf32> = dense_resource<w>
    memref.global "private" constant @unused : memref<16xf32> = dense_resource<v>
    memref.global "private" constant @small : memref<2xf32> = dense<[1.0, 2.0]>
    func.func private @k(%a: memref<16xf32>, %b: memref<16xf32>, %out: memref<16xf32>) {
      %t = memref.alloc() : memref<16xf32>
      linalg.map { arith.mulf } ins(%a, %b : memref<16xf32>, memref<16xf32>)
          outs(%t : memref<16xf32>)
      %u = memref.alloc() : memref<16xf32>
      linalg.map { math.absf } ins(%t : memref<16xf32>) outs(%u : memref<16xf32>)
      memref.dealloc %t : memref<16xf32>
      linalg.map { math.sqrt } ins(%u : memref<16xf32>) outs(%out : memref<16xf32>)
      memref.dealloc %u : memref<16xf32>
      return
    }
    func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {nn.entry} {
      %w = memref.get_global @w : memref<16xf32>
      %a = memref.alloc() : memref<16xf32>
      call @k(%x, %w, %a) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
      %b = memref.alloc() : memref<16xf32>
      call @k(%a, %x, %b) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
      memref.dealloc %a : memref<16xf32>
      %v = memref.expand_shape %b [[0, 1]] output_shape [4, 4]
          : memref<16xf32> into memref<4x4xf32>
      %c = memref.alloc() : memref<16xf32>
      call @k(%b, %w, %c) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
      %s = memref.collapse_shape %v [[0, 1]] : memref<4x4xf32> into memref<16xf32>
      call @k(%c, %s, %y) : (memref<16xf32>, memref<16xf32>, memref<16xf32>) -> ()
      memref.dealloc %b : memref<16xf32>
      memref.dealloc %c : memref<16xf32>
      return
    }
"""


def planned(text):
    module = parse_module(text)
    module.verify()
    context = PassContext()
    PlanMemory().run(module, context)
    module.verify()
    return module, context.statistics[""]


def entry(module):
    return next(f for f in module.body_block if getattr(f, "sym_name", "") == "main")


def test_results_stay():
    """Run in an arena of noise; the weights come from the table of the module."""
    module, statistics = planned(MODEL)
    main = entry(module)
    assert main.arg_attribute(2, "nn.arena") and main.arg_attribute(3, "nn.weights")
    x, w = np.linspace(1, 2, 16, dtype=np.float32), np.linspace(0, 3, 16, dtype=np.float32)
    arena = np.random.default_rng(0).integers(-128, 128, statistics["arena-bytes"])
    weights = np.zeros(statistics["weights-bytes"], np.int8)
    table = module.attribute("nn.weights")
    (held,) = (entry for name, entry in table.items() if name == "w")
    start = held.get("offset").value
    assert str(held.get("data")) == "dense_resource<w> : tensor<16xf32>"
    weights[start : start + w.nbytes] = w.view(np.int8)
    y = np.zeros(16, np.float32)
    Interpreter(module).call("main", [x, y, arena.astype(np.int8), weights])

    def k(a, b):
        return np.sqrt(np.abs(a * b))

    b = k(k(x, w), x)
    np.testing.assert_allclose(y, k(k(b, w), b), rtol=1e-6)


def test_what_is_left():
    module, statistics = planned(MODEL)
    ops = list(module.walk())
    assert not any(isinstance(op, memref.Alloc | memref.Dealloc) for op in ops)
    assert {g.sym_name for g in ops if isinstance(g, memref.Global)} == {"small", "unused"}
    # %b and %c and the scratch of a call are alive together.
    assert statistics["peak-live-bytes"] == 2 * 64 + 128
    assert statistics["arena-bytes"] == statistics["peak-live-bytes"]
    assert statistics["scratch-bytes"] == 128
    (call, *_) = (op for op in ops if isinstance(op, func.Call))
    assert len(call.args) == 4


def test_unknown_sizes_stay_on_the_heap():
    module, _ = planned("""
        func.func @main(%n: index, %y: memref<?xf32>) attributes {nn.entry} {
          %a = memref.alloc(%n) : memref<?xf32>
          memref.copy %y, %a : memref<?xf32> to memref<?xf32>
          memref.dealloc %a : memref<?xf32>
          return
        }
    """)
    assert sum(isinstance(op, memref.Alloc) for op in module.walk()) == 1


LOOPS = """
    func.func private @k(%x: memref<8x{size}xf32>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      {loop} {{
        %t = memref.alloc() : memref<{size}xf32>
        %row = memref.subview %x[%i, 0] [1, {size}] [1, 1] : memref<8x{size}xf32>
            to memref<{size}xf32, strided<[1], offset: ?>>
        memref.copy %row, %t
            : memref<{size}xf32, strided<[1], offset: ?>> to memref<{size}xf32>
        memref.dealloc %t : memref<{size}xf32>
      }}
      return
    }}
    func.func @main(%x: memref<8x{size}xf32>) attributes {{nn.entry}} {{
      call @k(%x) : (memref<8x{size}xf32>) -> ()
      return
    }}
"""
SEQUENTIAL = "scf.for %i = %c0 to %c8 step %c1"
PARALLEL = "scf.parallel (%i) = (%c0) to (%c8) step (%c1)"


@pytest.mark.parametrize(
    ("loop", "size", "left"),
    [
        (SEQUENTIAL, 16, []),
        (SEQUENTIAL, 100000, []),
        (PARALLEL, 16, ["memref.alloca"]),
        (PARALLEL, 100000, ["memref.alloc", "memref.dealloc"]),
    ],
)
def test_allocations_in_loops(loop, size, left):
    """One for all iterations goes to the arena; one for each of parallel ones cannot."""
    module, statistics = planned(LOOPS.format(loop=loop, size=size))
    kinds = (memref.Alloc, memref.Alloca, memref.Dealloc)
    assert [op.name for op in module.walk() if isinstance(op, kinds)] == left
    assert statistics["arena-bytes"] == (0 if left else aligned(4 * size))


def test_calls_from_functions_that_are_no_entry():
    """They have no arena to give a part of, so the scratch comes from the heap."""
    module, _ = planned("""
        func.func private @k(%x: memref<16xf32>) {
          %t = memref.alloc() : memref<16xf32>
          memref.copy %x, %t : memref<16xf32> to memref<16xf32>
          memref.dealloc %t : memref<16xf32>
          return
        }
        func.func @helper(%x: memref<16xf32>) {
          call @k(%x) : (memref<16xf32>) -> ()
          return
        }
    """)
    names = [op.name for op in module.walk() if op.name.startswith("memref.")]
    assert names == ["memref.view", "memref.copy", "memref.alloc", "memref.dealloc"]


IN_PLACE = """
    func.func private @k(%a: memref<5x7xf32>, %b: memref<5x7xf32>, %out: memref<5x7xf32>)
        attributes {nn.kernel} {
      %t = memref.alloc() : memref<5x7xf32>
      linalg.map { arith.mulf } ins(%a, %b : memref<5x7xf32>, memref<5x7xf32>)
          outs(%t : memref<5x7xf32>)
      linalg.map { arith.subf } ins(%t, %a : memref<5x7xf32>, memref<5x7xf32>)
          outs(%out : memref<5x7xf32>)
      return
    }
    func.func @main(%x: memref<5x7xf32>, %y: memref<5x7xf32>)
        attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
      %a = memref.alloc() : memref<5x7xf32>
      call @k(%x, %x, %a) : (memref<5x7xf32>, memref<5x7xf32>, memref<5x7xf32>) -> ()
      %b = memref.alloc() : memref<5x7xf32>
      call @k(%a, %x, %b) : (memref<5x7xf32>, memref<5x7xf32>, memref<5x7xf32>) -> ()
      %c = memref.alloc() : memref<5x7xf32>
      call @k(%x, %b, %c) : (memref<5x7xf32>, memref<5x7xf32>, memref<5x7xf32>) -> ()
      call @k(%c, %x, %y) : (memref<5x7xf32>, memref<5x7xf32>, memref<5x7xf32>) -> ()
      return
    }
"""


@pytest.mark.parametrize("machine", runnable("host", "avx2", "sse"))
def test_results_in_place_of_operands(machine):
    """Compiled, so that loops, registers and LLVM all allow for it."""
    context = PassContext()
    module = parse_module(IN_PLACE)
    MarkInPlace().run(module, context)
    PlanMemory().run(module, context)
    assert context.statistics[""]["in-place"] == 2
    assert context.statistics[""]["peak-live-bytes"] == 2 * aligned(4 * 35)  # with the scratch
    x = np.random.default_rng(0).standard_normal((5, 7)).astype(np.float32)

    def k(a, b):
        return a * b - a

    found = nnc.compile(parse_module(IN_PLACE), target=machine, cache=False)(x)
    np.testing.assert_allclose(found, k(k(x, k(k(x, x), x)), x), rtol=1e-5)


CHOSEN = """
    func.func private @main(%c: i1, %x: memref<16xf32>, %s: memref<1xindex>, %y: memref<16xf32>) {
      %a = memref.alloc() : memref<16xf32>
      memref.copy %x, %a : memref<16xf32> to memref<16xf32>
      %b = memref.alloc() : memref<16xf32>
      linalg.map { arith.addf } ins(%x, %x : memref<16xf32>, memref<16xf32>)
          outs(%b : memref<16xf32>)
      %one = arith.select %c, %a, %b : memref<16xf32>
      %shape = memref.alloc() : memref<1xindex>
      memref.copy %s, %shape : memref<1xindex> to memref<1xindex>
      %view = memref.reshape %one(%shape) : (memref<16xf32>, memref<1xindex>) -> memref<16xf32>
      %t = memref.alloc() : memref<16xf32>
      linalg.map { math.sqrt } ins(%x : memref<16xf32>) outs(%t : memref<16xf32>)
      linalg.map { arith.addf } ins(%view, %t : memref<16xf32>, memref<16xf32>)
          outs(%y : memref<16xf32>)
      return
    }
"""


@pytest.mark.parametrize("first", [True, False])
def test_one_of_several_buffers(first):
    """What may be one of two buffers keeps both alive, through views that look at it."""
    module = parse_module(CHOSEN)
    module.verify()
    PlanMemory().run(module, PassContext())
    module.verify()
    x, y = np.arange(1, 17, dtype=np.float32), np.zeros(16, np.float32)
    function = next(f for f in module.body_block if isinstance(f, func.FuncOp))
    extra = [np.zeros(t.shape, np.int8) for t in function.function_type.inputs[4:]]
    Interpreter(module).call("main", [first, x, np.array([16]), y, *extra])
    np.testing.assert_allclose(y, x * (1 if first else 2) + np.sqrt(x))


def chain(steps: int, kernel: str) -> str:
    """A row of calls that return buffers, each reading the one before and a static one."""
    calls = [
        f"""
      %s{i} = memref.alloc() : memref<64xf32>
      call @fill(%y{i}, %s{i}) : (memref<?xf32>, memref<64xf32>) -> ()
      %y{i + 1} = call @next(%y{i}, %s{i}) : (memref<?xf32>, memref<64xf32>) -> memref<?xf32>"""
        for i in range(steps)
    ]
    return f"""
    func.func @main(%y0: memref<?xf32>) -> memref<?xf32> attributes {{nn.entry}} {{{"".join(calls)}
      return %y{steps} : memref<?xf32>
    }}
    func.func private @fill(%x: memref<?xf32>, %s: memref<64xf32>) {{ return }}
    func.func private @next(%x: memref<?xf32>, %s: memref<64xf32>) -> memref<?xf32> {{
      %c0 = arith.constant 0 : index
      {kernel}
    }}
    """


@pytest.mark.parametrize(
    ("kernel", "bytes"),
    [
        ("%n = memref.dim %x, %c0 : memref<?xf32>\n%y = memref.alloc(%n) : memref<?xf32>\n"
         "return %y : memref<?xf32>", 256),
        ("%y = memref.cast %s : memref<64xf32> to memref<?xf32>\nreturn %y : memref<?xf32>",
         40 * 256),
    ],
    ids=["new", "operand"],
)  # fmt: skip
def test_buffers_that_calls_return(kernel, bytes):
    """One that the callee made is no operand of it, which may go; and any number is soon planned."""
    _, statistics = planned(chain(40, kernel))
    assert statistics["arena-bytes"] == bytes


SIDES = """
    func.func private @k(%b: memref<64xf32>) {
      %t = memref.alloc() : memref<64xf32>
      memref.copy %b, %t : memref<64xf32> to memref<64xf32>
      memref.copy %t, %b : memref<64xf32> to memref<64xf32>
      memref.dealloc %t : memref<64xf32>
      return
    }
    func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {nn.entry} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
        FIRST
        scf.index_switch %i
        case 0 {
          INSIDE
          func.call @k(%x) : (memref<64xf32>) -> ()
          scf.yield
        }
        default {
          func.call @k(%y) : (memref<64xf32>) -> ()
        }
        scf.reduce
      }
      return
    }
"""


@pytest.mark.parametrize("where", ["", "FIRST", "INSIDE"])
def test_calls_side_by_side_have_scratch_memory_of_their_own(where):
    """Also where a buffer of one side comes before the switch, as on the stack."""
    text = SIDES.replace(where or "nowhere", "%s = memref.alloc() : memref<8xf32>")
    module, _ = planned(text.replace("FIRST", "").replace("INSIDE", ""))
    calls = [op for op in module.walk() if isinstance(op, func.Call)]
    views = [call.operands[-1].defining_op for call in calls]
    offsets = {constant_int(view.byte_shift) for view in views}
    assert len(calls) == len(offsets) == 2
    assert max(offsets) - min(offsets) >= 64 * 4
