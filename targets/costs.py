"""The numbers that cost models, layouts and thresholds use, as a part of a machine's description.

Whatever follows from lanes, registers, caches or bandwidths is written as an expression of these
where it is used; here are the numbers that were measured or chosen. Unless a field names another
source, it was measured on a Zen 5 with AVX-512 (some on a Zen 4), one thread, and is recorded with
the times in docs/decisions/0011-what-was-tried-in-kernels.md. A target that measures otherwise
replaces a field. Limits of what is legal or can be represented are not here.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class OperationCosts:
    """The costs of operations on elements. Units: additions.

    Source: the instructions of our formulas, see kernels/math.
    """

    absf: int = 1
    ceil: int = 2
    floor: int = 2
    roundeven: int = 2
    trunc: int = 2
    divf: int = 5
    sqrt: int = 6
    rsqrt: int = 8
    exp: int = 12
    log: int = 14
    tanh: int = 16
    erf: int = 16
    sin: int = 20
    cos: int = 20
    powf: int = 40
    other_math: int = 20


@dataclass(frozen=True)
class TileCosts:
    """What a register tile costs, and how large tiles get. Units: cycles, unless said otherwise."""

    overlap: float = 3.0
    """The norm in which cycles of arithmetic and of loads add up: 3 fits products of all tiles."""
    loop_cycles: float = 0.25
    """What one pass through the tile's code takes besides."""
    loop_micro_ops: float = 1.5
    """The same in micro-operations, of which loops of four steps at once have 6."""
    spill_cycles: float = 2.0
    """For each register that is missing: a store and a load."""
    scattered_store_cycles: float = 2.0
    """For each lane that is stored by itself."""
    gather_cycles: float = 1.5
    """For each lane that is loaded by itself."""
    transpose_cycles: float = 2.0
    """For each vector of a block that is transposed, besides the steps of its shuffles."""
    combine_cycles: float = 4.0
    """For each step of combining lanes into one result: a shuffle and a dependent addition."""
    streaming_registers: int = 2
    """Registers that operands stream through beside the accumulators."""
    code_instructions: float = 2000.0
    """Instructions of all a tile's variants at which code counts as twice as expensive."""
    unrolled_window: int = 12
    """Reduction iterations that are unrolled at most, where windows overlap."""
    bodies: int = 72
    """Bodies in straight-line code."""
    sum_bodies: int = 1
    """Bodies of several steps of a sum in straight-line code: cores that issue in order compute one
    step while what the next one reads is under way."""
    streams: int = 16
    """Vectors loaded side by side from a large operand: more rows confuse prefetchers."""
    far_rows: int = 4
    """Rows far apart that an elementwise stage writes side by side: more fall on few cache sets."""
    far_bytes: int = 1024
    """Bytes between neighbours from which on they are rows of their own."""
    better: float = 0.995
    """Part of the best cost so far that a tile stays below: of equal ones the first is taken."""


@dataclass(frozen=True)
class LoopCosts:
    """Orders and blocks of the loops around tiles."""

    cache_filled: float = 0.6
    """Part of a cache that the data of a nest may take; the rest is for what passes through."""
    better_order: float = 0.97
    """Part of the best traffic so far that another order of loops must stay below."""
    better_block: float = 0.85
    """The same for blocks of a loop: their last one is smaller, and other stages run per block."""
    run_bytes: int = 512
    """Bytes that are as long under way as it takes processors to see that lines are read one after
    the other, and to read ahead: in runs as long as this, memory is half as fast."""
    even_iterations: int = 8
    """Iterations from which on a shorter last one hardly counts."""
    prefetch_bytes: int = 4096
    """How far ahead lines are asked for: at a page's end the processor's own streams stop."""
    prefetch_passes: int = 8
    """Passes over an operand with prefetches in each, most of which are in vain."""
    prefetch_least: int = 1 << 16
    """Bytes of an operand from which on tiles that read the same part share asking for the next."""
    prefetch_l2_part: int = 4
    """The part of the second cache, as a divisor, that lies between what is read side by side."""
    block_rows: int = 12
    """Rows that register tiles divide, which blocks are multiples of."""
    block_l2_part: int = 5
    """The part of the second cache, as a divisor, that a block handed on may take. 100 to 400 kB
    of 1 MB differ by 3 %."""
    transform_l2s: int = 2
    """Second caches that a block between transforms takes at least: the third one does as well."""
    transform_weights: int = 2
    """Times the weights that such a block takes at most: each block reads them all."""
    transform_l3_part: int = 4
    """The part of the third cache, as a divisor, that such a block takes at most."""
    stream_readers: int = 4
    """Results that an element of a matrix goes into, up to which reading it takes the time."""
    stream_rows: int = 16
    """Rows read side by side: streams that prefetchers follow, and uses of a loaded result."""
    stream_results: int = 1024
    """Results that are updated together; they stay in the first cache."""
    stream_blocks: int = 4
    """Blocks of a packed matrix that are read side by side from memory: one core has more lines
    under way in several streams than in one. Source: 154 MB in one, two, four, six streams take
    12.1, 8.7, 8.6 and 7.9 ms on a Zen 3."""
    asked_streams: int = 4
    """Such streams up to which asking for lines ahead pays."""
    stream_vectors: int = 8
    """Vectors in a row, up to which the results of a whole row stay in registers."""
    clearly_better: float = 0.8
    """Part of the predicted cycles of one schedule that a less promising one must stay below.
    The models are not closer: a copy of 2 MB of weights counts 13 % and is not seen in times."""


@dataclass(frozen=True)
class CopyCosts:
    """When an operand is copied before it is read."""

    readers: int = 32
    """Results that each element must go into."""
    readers_of_rows: int = 192
    """The same for an operand whose rows are contiguous along the lanes already."""
    panel_columns: int = 64
    """Columns of a panel that must stay in the second cache."""
    l2_way_bytes: int = 65536
    """Bytes after which addresses fall on the same sets of the second cache: 1 MB of 16 ways."""
    crowded_part: int = 2
    """The part, as a divisor, of the sets they fall on that rows may need."""


@dataclass(frozen=True)
class ThreadCosts:
    """When loops become parallel, and which ones."""

    least_microseconds: float = 20.0
    """Work below which a kernel stays on one thread: waking a worker and waiting take 2 to 5."""
    iterations_per_core: int = 4
    """Parallel iterations a core that make more loops needless, if the shares are even."""
    ordered_iterations: int = 2
    """Iterations a core that the outermost of reordered loops has, if any has."""
    even: float = 0.95
    """Part of the cores at work on average that is good enough."""
    least_gain: float = 0.02
    """Part of the cores that must be gained for one more parallel loop."""
    many_iterations: int = 2048
    """Parallel iterations of which every core has an even share anyway."""
    dealt_rows: int = 6
    """Rows of blocks that are dealt out to the cores, at least."""
    piece_operations: int = 1 << 13
    """Machine operations of a piece of a parallel loop, at least: 1 us where all are in registers,
    10 where operands come from memory; much longer than taking a piece, 0.05 us, and half of what
    has several threads at least. Measured on Zen 5: 65,536 make SqueezeNet 1.6 times slower."""
    function_operations: int = 16
    """Machine operations of a function of `math`, which becomes a polynomial."""
    unknown_trips: int = 64
    """Iterations of a loop inside a piece whose bounds are known only at run time."""


@dataclass(frozen=True)
class BufferCosts:
    """Where buffers lie, and the distance of their rows. Units: bytes, unless said otherwise."""

    stack: int = 512 << 10
    """Buffers that one iteration needs, in all, that go on a thread's stack (of 8 MB or more)."""
    loop_stack: int = 64 << 10
    """One buffer inside a parallel loop that goes on the stack rather than on the heap."""
    padded_row: int = 512
    """Rows from which on they are put an odd number of cache lines apart."""
    padded_rows: int = 8
    """How many rows there must be for that."""
    longer_rows: float = 0.2
    """Part by which images may be longer in a device's memory, so that each begins with a line."""


@dataclass(frozen=True)
class LayoutCosts:
    """How channels and columns are grouped in blocked layouts."""

    block: int = 16
    """Channels in a block, where their number allows: one vector of 512 bits, or several. 1 leaves
    all layouts plain."""
    few_rows: int = 4
    """Products of fewer rows are bound by reading the weights: two blocks lie together there. One
    row of 768 and 50176 columns: 25 ms unpacked, 8 in blocks of one vector, 5 in blocks of two."""
    unpacked: float = 5.0
    """By how much reading a matrix for a few rows takes longer than in blocks of two vectors, where
    it is not packed: 25 ms for 5, as above."""
    narrow_blocks: float = 1.6
    """The same where it is in blocks of one vector: 8 for 5."""
    plain_products: float = 1.15
    """By how much products of a convolution on the model's own layout, with vectors of neighbouring
    columns, take longer than on blocks of channels: 0.98 to 1.17 for 3x3 windows of stride 1 on
    AVX2, one thread, least of 40 runs in turns on a machine that others used; 1.04 and 2.2 for
    1x1."""
    plain_strided: float = 3.0
    """The same with strides, where neighbouring columns are gathered: 3.1."""
    filled: float = 0.85
    """Part of the lanes that blocks of an odd number of channels must fill."""
    half_filled: float = 0.9
    """What blocks of half a vector reach of the speed of whole ones: 728 channels at 14 x 14 in
    blocks of 8 at 88 GFLOP/s, in blocks of 56 at 105."""
    padded_blocks: int = 32
    """Blocks among which a last one, filled with zeros, does not count."""
    padded_results: int = 8
    """The same of a convolution whose number of results has no fitting divisor."""
    used_dilated: float = 0.8
    """Part of a convolution's products that are with elements, not padding, at which it stays
    whole."""
    used: float = 0.5
    """The same without dilations, where the parts are borders of a row or two: small tiles."""


@dataclass(frozen=True)
class AlgorithmCosts:
    """The choice between algorithms that save operations and those that save bytes.

    Units: multiplications, unless said otherwise.
    """

    attained: float = 0.55
    """Part of the peak at which products pass in a whole network while operands come from memory:
    some 110 to 120 GFLOP/s beside 20 GB/s, on a core whose peak is 224."""
    half_products: float = 2.0
    """By how much products of 16-bit floats, which are cast as they are loaded, take longer than
    those of f32: 1.8 in a MobileNet, 2.2 in a SqueezeNet."""
    hidden: float = 0.25
    """Part that counts of what passes beside something longer: operations beside bytes."""
    open_image: int = 320
    """Rows and columns that count of an input whose only the run tells."""
    open_sound: int = 16_000
    """Elements of a sound of unknown length: a second of it."""
    open_extent: int = 24
    """The same of what depends on more than the inputs' extents."""
    open_steps: int = 100
    """The same of what has no rows and columns: a second of a sound in steps of 10 ms."""
    small_images: int = 3
    """How many times smaller open images are that count beside those, by rows and columns: 107 and
    8. An algorithm is taken that gains more at one of the two than it loses at the other."""
    epilogue: float = 1.15
    """By how much a direct convolution must be worse to be given up."""
    between_l2s: int = 4
    """Second caches of elements on their way from one kernel to the next that count as cached."""
    between_weights: float = 1.25
    """Elements between transforms and products for each weight that make blocks of tiles pay."""
    transform_2: int = 32
    """One tile's transform at input or output, for 2x2 results: loads and stores included."""
    transform_4: int = 160
    transform_2_strided: int = 60
    """The same for convolutions of stride 2."""
    transform_4_strided: int = 300
    transform_parts: int = 16
    """The same of the four parts of a matrix to seven sums, or of seven products to four parts."""
    halved_registers: int = 32
    """Vector registers that a core needs for Strassen's algorithm to be considered. With 16, tiles
    have 6 rows, and products of halves took 0.92 to 1.10 of the time (AVX2 on a Zen 4)."""
    row_pairs: int = 32
    """The most pairs of rows in one block of a product by Strassen's algorithm."""
    halves: float = 1.05
    """How many times slower than Strassen's algorithm a plain product must be expected to be for
    that to be taken: both expectations were up to 5 % off in products of 64 to 1500 rows."""
    short_sums: float = 5.0
    """Steps of a sum that storing its result and beginning the next one are worth, in the products
    between transforms: those of a group of few channels have few steps."""
    few_tiles: int = 8
    """Tiles up to which these products wait for their weights, whatever passes beside."""
    few_tiles_read: float = 2.0
    """By how much longer weights from memory take them then."""
    phases: float = 0.9
    """Part of a transposed convolution's products that those of separate phases stay below."""
    separated_window: float = 2.5
    """Elements of a max pooling's window for each of its rows' and columns', from which on these
    are taken one after the other."""


@dataclass(frozen=True)
class BatchCosts:
    """When a batch is run in parts."""

    cache: int = 8 << 20
    """Bytes of activations that stay in cache."""
    parts: int = 16
    """The most parts of a batch."""
    saved_caches: int = 2
    """Times the cache that must be saved in all."""
    winograd_weights: int = 4
    """Times the weights of a 3x3 convolution that its transformed ones take: 36 for 9."""


@dataclass(frozen=True)
class ForestCosts:
    """How many rows pass through all trees of a decision forest before the next rows do."""

    first_cache: float = 2 / 3
    """The part of the first cache that such rows may take."""
    groups: int = 4
    """At least so many groups of rows that walk together: each time trees come from a farther
    cache."""


@dataclass(frozen=True)
class GroupCosts:
    """Which tiles the thread groups of a device get. None of it is measured yet: each number is
    taken from others' tuned kernels, or follows from how threads are started.
    """

    vectors: int = 4
    """Vectors that a thread moves at most where nothing is used twice."""
    side: int = 8
    """Elements along one side of a thread's share of a product, at most: 8 x 8 have 64 sums for 16
    elements read, as in the kernels of CUTLASS and BLIS for devices."""
    registers_filled: float = 0.6
    """Part of a thread's registers that its share may take; the rest is for addresses and what is
    on its way."""
    ahead: int = 4
    """Steps of a sum whose operands are on their way at once: compilers unroll loops by as many."""
    group_cycles: int = 200
    """What a group takes before it reads anything: starting it, its place, its addresses."""
    barrier_cycles: int = 40
    """What threads of a group wait for each other, once; of each thread where they take turns."""
    masked_cycles: float = 3.0
    """For each lane of what may lie beyond an edge, where there are no masks: it is asked for, and
    loaded or stored, by itself."""
    chunk_lines: int = 4
    """Lines of a row that a group keeps in its own memory at a time, at most."""
    buffers: int = 2
    """Copies of an operand in workgroup memory, at most: one is read while another is written."""


@dataclass(frozen=True)
class RunCosts:
    """The costs of a run on an idle machine, for `nnc check`; no choice depends on them."""

    attained: float = 0.9
    """Part of the peak at which products pass: 15 networks take 0.77 to 1.42 times their estimates
    by it, on a Zen 5 whose peak is 238 GFLOP/s where 224 are described."""
    memory: float = 1.0
    """How many times the bandwidth by which schedules are chosen a core has."""


@dataclass(frozen=True)
class Costs:
    """All costs, grouped by the choices that depend on them."""

    operations: OperationCosts = field(default_factory=OperationCosts)
    tiles: TileCosts = field(default_factory=TileCosts)
    loops: LoopCosts = field(default_factory=LoopCosts)
    copies: CopyCosts = field(default_factory=CopyCosts)
    threads: ThreadCosts = field(default_factory=ThreadCosts)
    buffers: BufferCosts = field(default_factory=BufferCosts)
    layouts: LayoutCosts = field(default_factory=LayoutCosts)
    algorithms: AlgorithmCosts = field(default_factory=AlgorithmCosts)
    batches: BatchCosts = field(default_factory=BatchCosts)
    forests: ForestCosts = field(default_factory=ForestCosts)
    groups: GroupCosts = field(default_factory=GroupCosts)
    runs: RunCosts = field(default_factory=RunCosts)
