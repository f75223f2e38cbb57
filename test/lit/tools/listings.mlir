// --list-passes, --show-dialects, --help and --version say what there is and read no input.
// RUN: nn-opt --list-passes no-such-file.mlir | filecheck %s --check-prefix=PASSES
// RUN: nn-opt --show-dialects no-such-file.mlir | filecheck %s --check-prefix=DIALECTS
// RUN: nn-opt --help | filecheck %s --check-prefix=HELP
// RUN: nn-opt --version | filecheck %s --check-prefix=VERSION

// PASSES:      {{^}}Passes:
// PASSES:        --canonicalize
// PASSES-NEXT:       Fold constants
// PASSES:          max-rewrites=.. (default 0): stop with an error
// PASSES:        --cse
// PASSES:        --symbol-dce  (on builtin.module)

// DIALECTS: Available Dialects: affine,amx,arith,builtin,cf,chlo,func,gpu,linalg,llvm,math,memref,nn,packed,quant,scf,schedule,sdy,stablehlo,tensor,ub,vector

// HELP:      input and output:
// HELP-NEXT:   -o, --output=FILE
// HELP:      passes:
// HELP:        --pass-pipeline=TEXT
// HELP:        --verify-each[=BOOL]
// HELP:      printing the IR around passes
// HELP:        --mlir-print-ir-after=PASS,..
// HELP:      pipelines:
// HELP:        --lower-to-loops
// HELP:      Passes:
// HELP:        --canonicalize

// VERSION: {{^}}nn-opt 0.
module {}
