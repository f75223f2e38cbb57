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
    """The exponent p of the norm (a**p + l**p) ** (1/p) by which cycles of arithmetic and of loads,
    which overlap, are combined: 3 fits products of all tiles.
    """
    loop_cycles: float = 0.25
    """Cycles of one pass through a tile's code, besides its arithmetic and loads."""
    loop_micro_ops: float = 1.5
    """The same in micro-operations; a loop unrolled by four has 6."""
    spill_cycles: float = 2.0
    """Cycles for each register that is missing: a store and a load."""
    scattered_store_cycles: float = 2.0
    """Cycles for each lane that is stored by itself."""
    gather_cycles: float = 1.5
    """Cycles for each lane that is loaded by itself."""
    transpose_cycles: float = 2.0
    """Cycles for each vector of a transposed block, besides the steps of its shuffles."""
    combine_cycles: float = 4.0
    """Cycles for each step of a reduction across lanes: a shuffle and a dependent addition."""
    streaming_registers: int = 2
    """Registers for streaming operands, besides the accumulators."""
    code_instructions: float = 2000.0
    """The number of instructions, over all variants of a tile, at which code counts as twice as
    expensive."""
    unrolled_window: int = 12
    """The most reduction iterations that are unrolled if windows overlap."""
    bodies: int = 72
    """The most copies of a body in straight-line code."""
    sum_bodies: int = 1
    """The most copies of a body in straight-line code over several steps of a sum: cores that issue
    in order compute one step while the operands of the next one are loaded."""
    long_sum: int = 2
    """The fewest steps of a loop over a sum for which several are in straight-line code."""
    streams: int = 16
    """The most vectors loaded side by side from a large operand: more rows confuse prefetchers."""
    far_rows: int = 4
    """The most distant rows that an elementwise stage writes side by side: more share few cache
    sets."""
    far_bytes: int = 1024
    """The distance between neighbours, in bytes, from which on they count as rows of their own."""
    better: float = 0.995
    """A tile replaces the best one so far if its cost is below this part of it, so that the first
    of equal ones stays."""


@dataclass(frozen=True)
class LoopCosts:
    """Orders and blocks of the loops around tiles."""

    cache_filled: float = 0.6
    """The part of a cache that a nest's data may fill; the rest is for streamed data."""
    better_order: float = 0.97
    """Another order of loops must have less than this part of the best traffic so far."""
    better_block: float = 0.75
    """The same for splitting a loop into blocks, of the traffic beyond the L1 cache: the last
    block is smaller, and other stages run once per block.
    """
    better_inside: float = 0.5
    """Another order within blocks than that of whole loops must save more traffic beyond the L1
    cache than this part of the arithmetic, beside which most of it is hidden."""
    run_bytes: int = 512
    """The length of a contiguous run, in bytes, at which memory reaches half its bandwidth:
    processors take as long to detect a stream and to read ahead."""
    even_iterations: int = 8
    """The number of iterations from which on a shorter last one is ignored."""
    prefetch_bytes: int = 4096
    """How many bytes ahead lines are prefetched: the processor's own streams stop at a page's end.
    """
    prefetch_passes: int = 8
    """The most passes over an operand with prefetches in each; in most they are useless."""
    prefetch_least: int = 1 << 16
    """The least bytes of an operand for which the tiles that read one part of it share the
    prefetching of its next part."""
    prefetch_l2_part: int = 4
    """Rows that a tile reads side by side are each prefetched if they lie within the L2 cache
    divided by this."""
    block_rows: int = 12
    """Blocks of rows are multiples of this, which the heights of register tiles divide."""
    block_l2_part: int = 5
    """A block handed on to the next stage takes at most the L2 cache divided by this. 100 to
    400 kB of 1 MB differ by 3 %."""
    transform_l2s: int = 2
    """The least size of a block between transforms, in L2 caches: the L3 cache serves as
    well."""
    transform_weights: int = 2
    """The most size of such a block, as a multiple of the weights, which each block reads."""
    transform_l3_part: int = 4
    """The most size of such a block: the L3 cache divided by this."""
    stream_readers: int = 4
    """The most results per element of a matrix for which the time is that of reading the matrix."""
    stream_rows: int = 16
    """Rows read side by side: prefetchers follow as many, and each loaded result is used for as
    many.
    """
    stream_results: int = 1024
    """The most results updated together, so that they stay in the L1 cache."""
    stream_blocks: int = 4
    """Blocks of a packed matrix that are read side by side from memory, since one core has more
    outstanding lines in several streams than in one. Source: 154 MB in one, two, four, six streams
    take 12.1, 8.7, 8.6 and 7.9 ms on a Zen 3."""
    asked_streams: int = 4
    """The most such streams for which prefetching pays."""
    stream_vectors: int = 8
    """The most vectors in a row for which the results of a whole row stay in registers."""
    clearly_better: float = 0.8
    """Part of the predicted cycles of one schedule that a less promising one must stay below.
    The models are not closer: a copy of 2 MB of weights counts 13 % and is not seen in times."""


@dataclass(frozen=True)
class CopyCosts:
    """When an operand is copied before it is read."""

    readers: int = 32
    """The least results that each element is used for."""
    readers_of_rows: int = 192
    """The same if the operand's rows are contiguous along the lanes already."""
    panel_columns: int = 64
    """The columns of a panel that must fit into the L2 cache."""
    l2_way_bytes: int = 65536
    """The distance of addresses that share a set of the L2 cache: 1 MB with 16 ways."""
    crowded_part: int = 2
    """Rows whose addresses fall on few sets of the L2 cache are copied if they need more than
    these sets divided by this."""


@dataclass(frozen=True)
class ThreadCosts:
    """When loops become parallel, and which ones."""

    least_microseconds: float = 20.0
    """Work below which a kernel stays on one thread: waking a worker and waiting take 2 to 5."""
    awake_microseconds: float = 5.0
    """The same for a kernel inside a loop: workers do not fall asleep between its iterations."""
    region_microseconds: float = 1.0
    """The time of a parallel region besides its work, if workers are awake."""
    iterations_per_core: int = 4
    """With this many parallel iterations per core, in even shares, no further loop is parallel."""
    ordered_iterations: int = 2
    """The least iterations per core of the outermost loop when parallel loops are reordered, if an
    order has as many."""
    even: float = 0.95
    """The average share of the cores that are busy from which on no further loop is
    made parallel.
    """
    least_gain: float = 0.02
    """The least gain, as a part of the cores, for which one more loop becomes parallel."""
    many_iterations: int = 2048
    """The number of parallel iterations from which on shares are even anyway."""
    dealt_rows: int = 6
    """The least rows of blocks that are distributed over the cores."""
    piece_operations: int = 1 << 13
    """The least machine operations of a piece of a parallel loop: 1 us if all are in registers, 10
    if operands come from memory. That is much longer than taking a piece, 0.05 us, and half of the
    least work that gets several threads. Measured on Zen 5: 65,536 make SqueezeNet 1.6 times
    slower."""
    function_operations: int = 16
    """The machine operations of a function of `math`, which becomes a polynomial."""
    unknown_trips: int = 64
    """The assumed iterations of a loop inside a piece whose bounds are unknown."""


@dataclass(frozen=True)
class BufferCosts:
    """Where buffers lie, and the distance of their rows. Units: bytes, unless said otherwise."""

    stack: int = 512 << 10
    """The most bytes of one iteration's buffers that go on a thread's stack (of 8 MB or more)."""
    loop_stack: int = 64 << 10
    """The most bytes of a buffer inside a parallel loop that goes on the stack rather than on the
    heap."""
    padded_row: int = 512
    """The least length of rows whose distance is made an odd number of cache lines."""
    padded_rows: int = 8
    """The least number of such rows."""
    longer_rows: float = 0.2
    """The part by which images in a device's memory may grow so that each begins at a cache line.
    """


@dataclass(frozen=True)
class LayoutCosts:
    """How channels and columns are grouped in blocked layouts."""

    block: int = 16
    """Channels in a block, where their number allows: one vector of 512 bits, or several. 1 leaves
    all layouts plain."""
    few_rows: int = 4
    """Products of fewer rows are bound by reading the weights, so blocks of two vectors are used.
    One row of 768 and 50176 columns: 25 ms unpacked, 8 in blocks of one vector, 5 in blocks of two.
    """
    unpacked: float = 5.0
    """The time of reading an unpacked matrix for a few rows, relative to blocks of two vectors: 25
    ms for 5, as above."""
    narrow_blocks: float = 1.6
    """The same for blocks of one vector: 8 ms for 5."""
    plain_products: float = 1.15
    """The time of a convolution's products on the model's own layout, with vectors of neighbouring
    columns, relative to blocks of channels: 0.98 to 1.17 for 3x3 windows of stride 1 on AVX2, one
    thread, least of 40 runs in turns on a machine that others used; 1.04 and 2.2 for 1x1."""
    plain_strided: float = 3.0
    """The same with strides, where neighbouring columns are gathered: 3.1."""
    filled: float = 0.85
    """The least part of the lanes that blocks must fill if the number of channels is odd."""
    half_filled: float = 0.9
    """The speed of blocks of half a vector, relative to whole ones: 728 channels at 14 x 14 in
    blocks of 8 at 88 GFLOP/s, in blocks of 56 at 105."""
    unpacked_rows: int = 32
    """Rows from which packed weights are unpacked for all of them, no longer for each tile."""
    padded_blocks: int = 32
    """The least number of blocks for which filling the last one up with zeros costs nothing."""
    used_dilated: float = 0.8
    """A dilated convolution is not divided if at least this part of its products does not involve
    padding."""
    used: float = 0.5
    """The same without dilations, where padding touches only borders of a row or two, whose tiles
    would be small."""


@dataclass(frozen=True)
class AlgorithmCosts:
    """The choice between algorithms that save operations and those that save bytes.

    Units: multiplications, unless said otherwise.
    """

    attained: float = 0.55
    """The part of the peak that products reach in a whole network, with operands from memory: some
    110 to 120 GFLOP/s beside 20 GB/s, on a core whose peak is 224."""
    half_products: float = 2.0
    """The time of products of 16-bit floats, which are converted as they are loaded, relative to
    f32: 1.8 in a MobileNet, 2.2 in a SqueezeNet."""
    hidden: float = 0.25
    """The part of the shorter time that counts beside a longer one, such as operations beside
    bytes."""
    open_image: int = 320
    """The assumed rows and columns of an input image of unknown size."""
    open_sound: int = 16_000
    """The assumed samples of a sound of unknown length: one second."""
    open_text: int = 128
    """The assumed tokens of a text of unknown length."""
    open_extent: int = 24
    """The assumed extent where it depends on more than the inputs' extents."""
    open_steps: int = 100
    """The assumed extent if there are no rows and columns: one second of sound in steps of 10 ms.
    """
    small_images: int = 3
    """By how much smaller images of unknown size are considered too: 107 for 320, and 8 for 24. An
    algorithm is chosen if it gains more for one of the two than it loses for the other."""
    epilogue: float = 1.15
    """A direct convolution is given up if its cost is higher than another's by this factor."""
    between_l2s: int = 6
    """Data between two kernels counts as cached up to so many L2 caches: with 5 of them between, a
    ViT's products of 197 rows by Strassen's algorithm took 0.91 to 0.95 of the direct ones' time on
    a Zen 4, with 7.5, those of 577 rows took 1.03 to 1.08."""
    between_weights: float = 1.25
    """The least elements between transforms and products, per weight, for which blocks of tiles
    pay."""
    transform_2: int = 32
    """Operations of one tile's transform at input or output, for 2x2 results, with loads and
    stores."""
    transform_4: int = 160
    transform_2_strided: int = 60
    """The same for convolutions of stride 2."""
    transform_4_strided: int = 300
    transform_parts: int = 16
    """The same for Strassen's algorithm: from four parts of a matrix to seven sums, or from seven
    products to four parts."""
    halved_registers: int = 32
    """The least vector registers of a core for Strassen's algorithm to be considered. With 16,
    tiles have 6 rows, and products of halves took 0.92 to 1.10 of the time (AVX2 on a Zen 4)."""
    row_pairs: int = 32
    """The most pairs of rows in one block of a product by Strassen's algorithm."""
    halves: float = 1.021
    """Strassen's algorithm is taken if a plain product is expected to be slower by this factor: 128
    rows of 384 columns were slower where 1.02 was expected, those of 1024 faster by 1.07."""
    lone_halves: float = 1.05
    """The same where a row of zeros is added: 49 rows gained nothing where 1.04 was expected."""
    short_sums: float = 5.0
    """The cost, in steps of a sum, of storing its result and beginning the next one, for the
    products between transforms: the sums of groups of few channels are short."""
    few_tiles: int = 8
    """With fewer tiles than this, the products between transforms wait for their weights."""
    few_tiles_read: float = 2.0
    """The factor by which reading these weights then takes longer."""
    phases: float = 0.9
    """A transposed convolution is divided into phases if they have less than this part of its
    products."""
    separated_window: float = 2.5
    """The least ratio of a max pooling's window to its rows plus columns for which these are
    reduced one after the other."""


@dataclass(frozen=True)
class BatchCosts:
    """When a batch is run in parts."""

    cache: int = 8 << 20
    """The bytes of activations that stay in cache."""
    parts: int = 16
    """The most parts that a batch is divided into."""
    saved_caches: int = 2
    """The least saving for which a batch is divided, as a multiple of the cache."""
    winograd_weights: int = 4
    """The size of a 3x3 convolution's transformed weights relative to the weights: 36 for 9."""


@dataclass(frozen=True)
class ForestCosts:
    """How many rows pass through all trees of a decision forest before the next rows do."""

    first_cache: float = 2 / 3
    """The part of the L1 cache that such rows may fill."""
    groups: int = 4
    """The least groups of rows that walk together: each time, trees are loaded from a farther
    cache."""


@dataclass(frozen=True)
class GroupCosts:
    """Which tiles the thread groups of a device get. None of it is measured yet: each number is
    taken from others' tuned kernels, or follows from how threads are started.
    """

    vectors: int = 4
    """The most vectors that a thread moves where nothing is read twice."""
    side: int = 8
    """The most elements along one side of a thread's part of a product: 8 x 8 have 64 sums for 16
    elements read, as in the kernels of CUTLASS and BLIS for devices."""
    registers_filled: float = 0.6
    """The part of a thread's registers that its sums may take; the rest is for addresses and loads.
    """
    ahead: int = 4
    """Steps of a sum whose operands are loaded at once: compilers unroll loops by as many."""
    group_cycles: int = 200
    """The cycles of starting a group, before it reads anything."""
    barrier_cycles: int = 40
    """The cycles of a barrier; for each thread if the threads of a group run one after the other.
    """
    masked_cycles: float = 3.0
    """The cycles of each lane that may lie beyond an edge, if there are no masks: each is tested,
    and loaded or stored by itself."""
    chunk_lines: int = 4
    """The most cache lines of a row that a group keeps in workgroup memory at a time."""
    rows_again: float = 1.6
    """How many times as long a kernel may take that computes rows again as one that keeps them all
    in memory, which grows with the square of their number: 1500 rows of 6 heads are 54 MB. Three
    products for two are 1.5 times the arithmetic."""
    buffers: int = 2
    """The most copies of an operand in workgroup memory: one is read while another is written."""
    alike: float = 1.05
    """How much longer a tile may take by the model and still be as good as another one: of such
    tiles, one is taken that wastes few parts of the lines that its threads request."""
    most_idle: float = 0.2
    """The part of the cores that a product may leave without a group where a tile that is as good
    leaves fewer."""


@dataclass(frozen=True)
class RunCosts:
    """The costs of a run on an idle machine, for `nnc check`; no choice depends on them."""

    attained: float = 0.9
    """The part of the peak that products reach: 15 networks take 0.77 to 1.42 times their estimates
    by it, on a Zen 5 whose peak is 238 GFLOP/s where 224 are described."""
    memory: float = 1.0
    """A core's memory bandwidth, relative to the one by which schedules are chosen."""


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
