"""How many bytes a run touches between two uses of a kernel's arguments."""

import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.model.reuse import reuse_distances

MAP = """
  func.func private @{name}(%a: memref<25xf32>, %b: memref<25xf32>) attributes {{nn.kernel}} {{
    linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                    iterator_types = ["parallel"]}}
        ins(%a : memref<25xf32>) outs(%b : memref<25xf32>) {{
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }}
    return
  }}
"""
LOOKUP = """
  func.func private @lookup(%a: memref<1000xf32>, %b: memref<25xf32>) attributes {nn.kernel} {
    %c0 = arith.constant 0 : index
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        outs(%b : memref<25xf32>) {
    ^bb0(%out: f32):
      %0 = memref.load %a[%c0] : memref<1000xf32>
      linalg.yield %0 : f32
    }
    return
  }
"""


def call(name, a, b):
    return f"func.call @{name}(%{a}, %{b}) : (memref<25xf32>, memref<25xf32>) -> ()\n"


def temporary(name):
    return f"%{name} = memref.alloc() : memref<25xf32>\n"


def ended(name):
    return f"memref.dealloc %{name} : memref<25xf32>\n"


LOOP = "scf.for %i = %c0 to %c9 step %c1 {{ {} }}\n"

# Buffers of 100 bytes: {what a run does: the distances of the arguments of kernels x, y, z}
CASES = {
    # The next run reads what this one has left: each argument after all of both.
    call("x", "p", "q"): {"x": ((200,), (200,))},
    # `y` finds what `x` wrote behind it and what `x` read, as lines of both are used in turns.
    call("x", "p", "q") + call("y", "q", "r"): {"x": ((300,), (200,)), "y": ((200,), (300,))},
    call("x", "p", "q") + call("x", "q", "r"): {"x": ((300, 200), (200, 300))},
    # `u` lies where `s` did.
    temporary("s") + call("x", "p", "s") + temporary("t") + call("y", "s", "t") + ended("s")
    + temporary("u") + call("z", "t", "u") + ended("t") + ended("u"): {
        "x": ((300,), (200,)), "y": ((200,), (300,)), "z": ((200,), (200,)),
    },
    # What an iteration of a loop reads again.
    call("x", "p", "q") + LOOP.format(call("y", "r", "s0")): {
        "x": ((400,), (400,)), "y": ((200,), (200,)),
    },
    # Of a table, values say how little is read.
    "func.call @lookup(%table, %p) : (memref<1000xf32>, memref<25xf32>) -> ()\n"
    + call("x", "p", "q"): {"lookup": ((), (200,)), "x": ((100,), (200,))},
}  # fmt: skip


def module_of(body, kernels):
    arguments = ", ".join(f"%{name}: memref<25xf32>" for name in ("p", "q", "r", "s0"))
    return parse_module(
        f"module {{ func.func @main({arguments}, %table: memref<1000xf32>) "
        "attributes {nn.entry} {\n"
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        f"%c9 = arith.constant 9 : index\n{body} return\n}}\n{kernels}}}"
    )


KERNELS = LOOKUP + "".join(MAP.format(name=name) for name in "xyz")


@pytest.mark.parametrize("body, expected", CASES.items())
def test_bytes_between_two_uses(body, expected):
    assert reuse_distances(module_of(body, KERNELS)) == expected


FUNCTION = """
  func.func private @both(%a: memref<25xf32>, %b: memref<25xf32>) {{
    {}
    return
  }}
"""


def test_functions_touch_the_buffers_of_their_callers():
    both = FUNCTION.format(call("x", "a", "b") + call("y", "b", "a"))
    found = reuse_distances(module_of(call("both", "p", "q"), KERNELS + both))
    assert found == {"x": ((200,), (200,)), "y": ((200,), (200,))}


def test_a_constant_is_one_buffer_wherever_it_is_named():
    at = [f"%w{i} = memref.get_global @w{i % 2} : memref<25xf32>\n" for i in range(3)]
    body = "".join(at) + call("x", "w0", "p") + call("x", "w1", "p") + call("y", "w2", "p")
    constants = "".join(
        f'memref.global "private" constant @w{i} : memref<25xf32> = dense<1.0>\n' for i in (0, 1)
    )
    found = reuse_distances(module_of(body, constants + KERNELS))
    # @w0 of `x` is that of `y`, which the run before had last.
    assert found == {"x": ((200, 300), (200, 200)), "y": ((300,), (200,))}


def test_loops_in_loops_take_no_time_for_each_of_their_iterations():
    inner = call("x", "p", "q")
    for i in range(60):
        inner = LOOP.format(inner).replace("%i =", f"%i{i} =", 1)
    text = MAP.format(name="x") + (
        "func.func @main(%p: memref<25xf32>, %q: memref<25xf32>) attributes {nn.entry} {\n"
        "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        "%c9 = arith.constant 9 : index\n" + inner + "return\n}"
    )
    assert reuse_distances(parse_module(text)) == {"x": ((200.0,), (200.0,))}
