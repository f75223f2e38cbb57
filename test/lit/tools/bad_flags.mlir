// An unknown option names the nearest one; values are checked; each fault is one line.
// RUN: not nn-opt --canonicalise %s 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not nn-opt --mlir-print-ir-after-al %s 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: not nn-opt --xyzzy %s 2>&1 | filecheck %s --check-prefix=FAR
// RUN: not nn-opt --mlir-print-ir-after=foo %s 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: not nn-opt --mlir-timing-display=pie %s 2>&1 | filecheck %s --check-prefix=CHOICE
// RUN: not nn-opt %s other.mlir 2>&1 | filecheck %s --check-prefix=TWO
// RUN: not nn-opt %s --pass-pipeline 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not nn-opt no-such-file.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not nn-opt %S 2>&1 | filecheck %s --check-prefix=FOLDER
// RUN: not nn-opt %s -o %S 2>&1 | filecheck %s --check-prefix=OUTPUT
// RUN: not nn-opt %s -o no/such/folder.mlir 2>&1 | filecheck %s --check-prefix=NOWHERE
// RUN: not nn-opt %s --cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=/dev/null/x 2>&1 | filecheck %s --check-prefix=TREE

// PASS:    {{^}}error: nn-opt: unknown option '--canonicalise'; did you mean '--canonicalize'? nn-opt --help lists all options{{$}}
// FLAG:    {{^}}error: nn-opt: unknown option '--mlir-print-ir-after-al'; did you mean '--mlir-print-ir-after-all'?
// FAR:     {{^}}error: nn-opt: unknown option '--xyzzy'; nn-opt --help lists all options{{$}}
// DUMP:    {{^}}error: nn-opt: --mlir-print-ir-..: no pass is named 'foo'{{$}}
// CHOICE:  {{^}}error: nn-opt: option '--mlir-timing-display' takes one of list, tree, not 'pie'{{$}}
// TWO:     {{^}}error: nn-opt: one input file, not 2:
// VALUE:   {{^}}error: nn-opt: option '--pass-pipeline' needs a value{{$}}
// MISSING: {{^}}error: cannot read 'no-such-file.mlir': No such file or directory{{$}}
// FOLDER:  {{^}}error: cannot read '{{.*}}tools': Is a directory{{$}}
// OUTPUT:  {{^}}error: cannot write '{{.*}}tools': {{.+}}{{$}}
// NOWHERE: {{^}}error: cannot write '{{.*}}no/such/folder.mlir': No such file or directory{{$}}
// TREE:    error: cannot make folder '/dev/null/x/builtin_module_no-symbol-name': Not a directory{{$}}
module {}
