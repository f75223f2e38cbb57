"""--check-numerics: run functions before and after each pass, and stop where the results differ.

    check = CheckNumerics(NumericsOptions(seed=3))
    PassManager(pipeline, instrumentations=[check]).run(module)    # may raise NumericsError

See docs/numerics.md. `options` has the flags, `inputs` the values, `compare` the tolerances,
`running` how a function of any level is run, `checker` the instrumentation; `bisect`, `trace`,
`locate` and `single_ops` find the operation at fault, `report` describes it.
"""

from ..options import NumericsOptions, add_arguments, options_of, parse_options
from .checker import CheckNumerics
from .compare import Difference, Tolerance
from .report import Finding, NumericsError

__all__ = [
    "CheckNumerics",
    "Difference",
    "Finding",
    "NumericsError",
    "NumericsOptions",
    "Tolerance",
    "add_arguments",
    "options_of",
    "parse_options",
]
