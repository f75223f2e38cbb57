"""Names of the attributes by which one stage tells a later one what a function or argument is."""

from __future__ import annotations

ENTRY = "nn.entry"
"""Of the function that a model's caller calls."""
INPUT_NAMES = "nn.input_names"
OUTPUT_NAMES = "nn.output_names"
INPUTS = "nn.inputs"
"""Of an entry, and of a module in the llvm dialect: the tensor types of its inputs."""
OUTPUTS = "nn.outputs"
INPUT_DIMS = "nn.input_dims"
"""Of an entry, and of a module in the llvm dialect: the names of unknown dimensions of each input,
empty for others. Only there if the model names one."""
OUTPUT_DIMS = "nn.output_dims"
EXPECTED_EXTENTS = "nn.expected_extents"
"""Of a kernel: for each operand and result, what its unknown extents are expected to be, 0 where
nothing is. Models of the machine take them to be so; nothing may rely on it."""
INPUT_STARTS = "nn.input_starts"
"""Of an entry, and of a module in the llvm dialect: the number that all elements of an input are
where a caller leaves it out, as text; empty for one that must be given. Only there if some input,
a state that is given from run to run, may be left out."""
COMPLEX_OUTPUTS = "nn.complex_outputs"
"""Of an entry, and of a module in the llvm dialect: the names of outputs whose last dimension has
both parts of complex numbers. Only there if some output is complex to the model."""
KERNEL = "nn.kernel"
"""Of a function whose operations are computed together."""

CYCLES = "nn.cycles"
"""Of a kernel's function: what its launches are expected to take, in cycles of the device."""
ON_HOST = "nn.on_host"
"""Of a kernel's function that no launch carries out: why."""
DEVICE = "nn.device"
"""Of a module for a device: how many kernels are launched in a run, what stays with the host and
why, the bytes that are copied between both, and the microseconds that launches are expected to
take. Where extents or repetitions are not known, what is known counts."""
THREADS = "nn.threads"
"""Of a parallel loop whose iterations are groups of a device, and of the kernel that it becomes:
how many threads a group has."""

KERNEL_ARGUMENTS = "nn.kernel_arguments"
"""Of a kernel in the llvm dialect: a letter for each part of its arguments, as hosts read them."""

PIPELINE = "nn.pipeline"
"""Of a loop in hardware whose iterations start so many cycles after one another."""
REPLICATE = "nn.replicate"
"""Of a loop in hardware each of whose iterations has hardware of its own: how many there are."""

SAMPLES = "nn.samples"
"""Of a module: inputs, and what the reference makes of them."""
RANGE = "nn.range"
"""Of an argument of a kernel: between which numbers its elements were, with these inputs."""

REPLACED = "nn.replaced"
"""Of a kernel's function that is called through a table: its row."""
IN_PLACE = "nn.in_place"
"""Of an argument of a kernel that may be the same buffer as another argument."""
ARENA = "nn.arena"
"""Of the argument that holds all buffers of an entry."""
SCRATCH = "nn.scratch"
"""Of the argument that holds the buffers of another function."""
WEIGHTS = "nn.weights"
"""Of the argument that holds the constants; of a module, where in it each lies."""
STORED = "nn.stored"
"""Of a module: weights that are stored already, as `WEIGHTS`; equal ones share their places."""
POOL = "nn.pool"
"""Of the argument that is the pool of threads, null where there is none."""
PREPARED = "nn.prepared"
"""Of the argument that holds the weights made at creation; of a module, as `WEIGHTS`."""
ARENA_BYTES = "nn.arena_bytes"
HEAP_BYTES = "nn.heap_bytes"
"""Of those, at their start, what buffers of unknown size need between calls."""
WEIGHTS_BYTES = "nn.weights_bytes"
LIVE_BYTES = "nn.live_bytes"
"""Of an entry, by `plan-memory`: how much of its arena is in use at one time at most."""
PREPARED_BYTES = "nn.prepared_bytes"
PREPARE_ARENA_BYTES = "nn.prepare_arena_bytes"
"""What making weights needs for buffers."""
FAILURES = "nn.failures"
"""Of a module in the llvm dialect: what each status of `nnc_run` means, from `FIRST_FAILURE` on."""
CHECKS = "nn.checks"
"""Of a function: how many of its operations may fail, those of functions that it calls included."""
FIRST_CHECK = "nn.first_check"
"""Of an operation that may fail: how many such stand before it in its function."""
BY_SHAPES = "; it does not fail once the shapes of the inputs are given (--shape, shapes=)"
"""How the message of an `nn.assume` ends that holds for all shapes once they are constants."""

MAKER = "nn.prepare"
"""Of a function that makes a weight when a model is created; its value is the order."""
WEIGHT = "nn.weight"
"""Of its result: the key of the constants that the weight is."""
OFFSET = "nn.offset"
"""Of the argument that it writes: where it lies among the prepared weights."""
USED_WEIGHTS = "nn.used_weights"
"""Of a function that makes a weight: so many bytes of the weights are not needed after it."""

PARALLEL = "nn.parallel"
"""Of a call whose range of indices may be cut into pieces that run at the same time; says how many
indices a piece has at least, 1 without a number."""
PARALLEL_BODY = "nn.parallel_body"
"""Of the function that such a call calls."""

SCALAR_LOOPS = "nnc-scalar-loops"
"""Of a function in LLVM IR whose loops LLVM might vectorize."""
