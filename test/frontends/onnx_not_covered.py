"""ONNX's node cases that nnc does not import, and why. `*` stands for anything.

A case that is listed must give an error, not a wrong result; one that works must not be
listed (`test_onnx_node_cases.py` checks both).
"""

from fnmatch import fnmatchcase

_RANDOM = "random numbers: NumPy's generator is expected, ours is another"

NOT_COVERED: dict[str, str] = {
    "test_training_dropout_default*": _RANDOM,
    "test_training_dropout": _RANDOM,
    "test_training_dropout_mask": _RANDOM,
    "test_bernoulli*": _RANDOM,
    "test_scan_sum": "Scan before opset 9, which has a batch of sequences",
    "test_resize_downsample_scales_*_align_corners": (
        "ONNX's reference divides by the unrounded output extent; the text says length_resized, "
        "as onnxruntime computes it, and so do we"
    ),
}


def reason_not_covered(name: str) -> str | None:
    """Why a case is not covered, or None if it is."""
    return next((why for pattern, why in NOT_COVERED.items() if fnmatchcase(name, pattern)), None)
