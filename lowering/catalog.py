"""Maps each pass to the module that declares it, imported when the pass is first named."""

from __future__ import annotations

from importlib import import_module

from ..ir.passes import PASSES, Pass

PASS_MODULES: dict[str, str] = {
    "apply-schedules": "..kernels.apply_schedules",
    "choose-schedules": "..kernels.choose_schedules",
    "assign-layouts": "..kernels.codegen.shares.assign_layouts",
    "distribute-tiles": "..kernels.codegen.shares.distribute_tiles",
    "canonicalize": "..passes.canonicalize",
    "choose-algorithms": "..passes.nn.choose_algorithms",
    "choose-layouts": "..passes.nn.choose_layouts",
    "convert-scf-to-cf": ".scf_to_cf",
    "cse": "..passes.cse",
    "describe-entry": ".describe_entry",
    "expand-math": "..kernels.math.expand_math",
    "flatten-addresses": "..kernels.codegen.addresses.flatten_addresses",
    "forward-stores": "..kernels.codegen.forwarding.forward_stores",
    "keep-on-chip": "..memory.keep_on_chip",
    "keep-packed": "..passes.nn.keep_packed",
    "lower-tiles": "..kernels.codegen.vectors.lower_tiles",
    "lower-affine": ".lower_affine",
    "lower-to-linalg": ".nn_to_linalg",
    "place-buffers": "..memory.place_buffers",
    "align-arguments": "..memory.align_arguments",
    "align-rows": "..kernels.align_rows",
    "call-device": "..memory.call_device",
    "mark-in-place": "..kernels.mark_in_place",
    "merge-convolutions": "..passes.nn.merge_convolutions",
    "merge-dimensions": "..kernels.merge_dimensions",
    "compute-rows-again": "..kernels.compute_rows_again",
    "single-rows": "..kernels.single_rows",
    "plan-memory": "..memory.plan_memory",
    "remove-dead-values": "..passes.dead_code",
    "lower-to-circuit": ".lower_to_circuit",
    "lower-to-llvm": ".to_llvm",
    "decompose": "..passes.nn.decompose",
    "fold-batch-norm": "..passes.nn.fold_batch_norm",
    "fold-constants": "..passes.nn.fold_constants",
    "fuse": "..passes.nn.fuse",
    "fuse-into-tiles": ".fuse_into_tiles",
    "inline": "..passes.inline",
    "instrument-kernels": "..memory.instrument_kernels",
    "infer-shapes": "..passes.nn.infer_shapes",
    "outline-kernels": "..passes.nn.outline_kernels",
    "outline-regions": "..passes.nn.outline_regions",
    "outline-launches": "..memory.outline_launches",
    "outline-parallel": "..memory.outline_parallel",
    "overlap-loops": "..kernels.overlap_loops",
    "lower-to-amx": "..kernels.codegen.matrices.lower_to_amx",
    "prove-kernels": "..kernels.proof.prove_kernels",
    "pad-channels": "..passes.nn.pad_channels",
    "parametrize-kernels": "..passes.nn.parametrize_kernels",
    "prepare-weights": "..passes.nn.prepare_weights",
    "recognize-composites": "..passes.nn.recognize",
    "repeat-constants": "..passes.nn.repeat_constants",
    "sample-ranges": "..numerics.sample_ranges",
    "sink-transposes": "..passes.nn.sink_transposes",
    "sink-views": "..passes.nn.sink_views",
    "simplify-shapes": "..passes.nn.simplify_shapes",
    "merge-products": "..passes.nn.merge_products",
    "merge-quantizations": "..passes.nn.merge_quantizations",
    "split-batch": "..passes.nn.split_batch",
    "strip-debuginfo": "..passes.strip_debuginfo",
    "symbol-dce": "..passes.dead_code",
    "use-integers": "..passes.nn.use_integers",
    "widen-products": "..passes.nn.widen_products",
}


def find_pass(name: str) -> type[Pass] | None:
    """The pass class of this name, or None."""
    if name not in PASSES and name in PASS_MODULES:
        import_module(PASS_MODULES[name], __package__)
    return PASSES.get(name)


def all_passes() -> list[type[Pass]]:
    """Every pass, by name."""
    return [cls for name in sorted(PASS_MODULES) if (cls := find_pass(name)) is not None]
