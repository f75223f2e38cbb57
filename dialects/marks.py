"""Names of the attributes by which one stage tells a later one what an operation or argument is.

The text below each name says what carries the attribute, and what its value is.
"""

from __future__ import annotations

ENTRY = "nn.entry"
"""On the function that a caller of the model calls. A unit attribute."""
INPUT_NAMES = "nn.input_names"
"""On the entry, and on a module in the llvm dialect: the names of the inputs."""
OUTPUT_NAMES = "nn.output_names"
"""On the entry, and on a module in the llvm dialect: the names of the outputs."""
INPUTS = "nn.inputs"
"""On the entry, and on a module in the llvm dialect: the tensor types of the inputs."""
OUTPUTS = "nn.outputs"
"""On the entry, and on a module in the llvm dialect: the tensor types of the outputs."""
INPUT_DIMS = "nn.input_dims"
"""On the entry, and on a module in the llvm dialect: for each input, the names of its dimensions,
empty for those without a name. Absent if the model names none."""
OUTPUT_DIMS = "nn.output_dims"
"""The same for the outputs."""
EXPECTED_EXTENTS = "nn.expected_extents"
"""On a kernel: for each operand and result, the extents that cost models assume for its unknown
dimensions, 0 where they assume none. Correctness must not depend on them."""
INPUT_STARTS = "nn.input_starts"
"""On the entry, and on a module in the llvm dialect: for each input, as text, the value of all its
elements if the caller omits it; empty for an input that is required. Only states, which a caller
passes on from run to run, may be omitted. Absent if every input is required."""
COMPLEX_OUTPUTS = "nn.complex_outputs"
"""On the entry, and on a module in the llvm dialect: the names of the outputs that are complex in
the model. Their last dimension holds the real and the imaginary part. Absent if there are none."""
KERNEL = "nn.kernel"
"""On a function that is one kernel: its operations are scheduled together. A unit attribute."""

COMPUTES_AGAIN = "nn.computes_again"
"""On a kernel's function whose rows of a product are computed once for each stage that reads them,
so that groups go over blocks of their columns. A unit attribute."""

REPEATED = "nn.repeated"
"""On a kernel's function that only loops call, so that other threads are awake when it begins. A
unit attribute."""

CYCLES = "nn.cycles"
"""On a kernel's function: the predicted time of its launches. Units: cycles of the device."""
ON_HOST = "nn.on_host"
"""On a kernel's function that runs on the host, not on the device: the reason, as text."""
DEVICE = "nn.device"
"""On a module for a device: a dictionary with the number of kernel launches in a run, the steps
that stay on the host and why, the bytes copied between both, and the predicted microseconds of the
launches. Work of which the extents or repetitions are unknown is left out."""
THREADS = "nn.threads"
"""On a parallel loop over groups of a device, and on the kernel made of it: the number of threads
of a group."""

IMPLIED = "nn.implied"
"""On an `nn.cast` to 16-bit floats, or of them to others, that no model has, but an op's element
type asks for. Where both are in one kernel, the number need not be rounded between. A unit
attribute."""

KERNEL_ARGUMENTS = "nn.kernel_arguments"
"""On a kernel in the llvm dialect: a letter for each machine argument, as in
`runtime.abi.DEVICE_KERNELS`."""

PIPELINE = "nn.pipeline"
"""On a loop that becomes a hardware pipeline: the initiation interval, which is the number of
cycles from the start of one iteration to that of the next."""
REPLICATE = "nn.replicate"
"""On a loop whose iterations each get hardware of their own: the number of copies."""

SAMPLES = "nn.samples"
"""On a module: sample inputs, and the reference's outputs for them."""
RANGE = "nn.range"
"""On an argument of a kernel: the least and the largest of its elements with the sample inputs."""

PORT_NAMES = "argNames"
"""On a function that becomes a circuit: the names of its arguments' ports. CIRCT's name."""
PORT_RESULTS = "resNames"
"""The same for its results."""

REPLACED = "nn.replaced"
"""On a kernel's function that is called through the table of addresses: its index in the table."""
IN_PLACE = "nn.in_place"
"""On an argument of a kernel that writes over operands of the same buffer: the numbers of those
arguments. On these: a unit attribute."""
ARENA = "nn.arena"
"""On the entry's argument that is the memory of all its temporary buffers."""
SCRATCH = "nn.scratch"
"""The same on an argument of any other function."""
WEIGHTS = "nn.weights"
"""On the argument that is the memory of the constants. On a module: the constants, each with its
offset in that memory."""
STORED = "nn.stored"
"""On a module: constants that another module has placed already, in the form of `WEIGHTS`; equal
constants of this module get the same offsets."""
POOL = "nn.pool"
"""On the argument that is the pool of threads; null if there is one thread only."""
PREPARED = "nn.prepared"
"""On the argument that is the memory of the weights computed when a model is loaded. On a module:
these weights, in the form of `WEIGHTS`."""
ARENA_BYTES = "nn.arena_bytes"
"""On a module in the llvm dialect: the size of the arena."""
HEAP_BYTES = "nn.heap_bytes"
"""On a module in the llvm dialect: the part of the arena, at its start, that keeps the addresses of
buffers of unknown size between calls."""
WEIGHTS_BYTES = "nn.weights_bytes"
"""On a module in the llvm dialect: the size of the constants."""
LIVE_BYTES = "nn.live_bytes"
"""On the entry, set by `plan-memory`: the most bytes of its arena that are in use at one time."""
PREPARED_BYTES = "nn.prepared_bytes"
"""On a module in the llvm dialect: the size of the weights computed when a model is loaded."""
PREPARE_ARENA_BYTES = "nn.prepare_arena_bytes"
"""On a module in the llvm dialect: the size of the temporary buffers for computing these."""
FAILURES = "nn.failures"
"""On a module in the llvm dialect: the message for each status of `nnc_run`, the first one for
`FIRST_FAILURE`."""
CHECKS = "nn.checks"
"""On a function: the number of its operations that may fail, including those of its callees."""
FIRST_CHECK = "nn.first_check"
"""On an operation that may fail: the number of such operations before it in its function."""
BY_SHAPES = "; it does not fail once the shapes of the inputs are given (--shape, shapes=)"
"""The end of the message of an `nn.assume` that cannot fail once all shapes are constants."""

MAKER = "nn.prepare"
"""On a function that computes a weight when a model is loaded: its position in the order of such
functions."""
WEIGHT = "nn.weight"
"""On that function's result, later on its first argument: the key of the constant it computes."""
OFFSET = "nn.offset"
"""On that argument: the offset among the prepared weights. Units: bytes."""
USED_WEIGHTS = "nn.used_weights"
"""On that function: how many bytes at the start of the constants are no longer needed after it."""

PARALLEL = "nn.parallel"
"""On a call whose range of indices may be divided among threads: the least number of indices of a
piece; 1 if the attribute has no value."""
PARALLEL_BODY = "nn.parallel_body"
"""On the function that such a call calls."""

SCALAR_LOOPS = "nnc-scalar-loops"
"""On a function in LLVM IR: it has loops that LLVM may vectorize."""
