// Faults in a pipeline are shown in its text, with a caret at the column.
// RUN: not nn-opt --pass-pipeline='builtin.module(func.func(cse,cannonicalize))' %s 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not nn-opt --pass-pipeline='builtin.module(func.func(cse)cse)' %s 2>&1 | filecheck %s --check-prefix=COMMA
// RUN: not nn-opt --pass-pipeline='builtin.module(func.func(cse)' %s 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not nn-opt --pass-pipeline='builtin.module(cse))' %s 2>&1 | filecheck %s --check-prefix=CLOSE
// RUN: not nn-opt --pass-pipeline='builtin.module(canonicalize{max-rewrites=1' %s 2>&1 | filecheck %s --check-prefix=BRACE
// RUN: not nn-opt --pass-pipeline='builtin.module(canonicalize{max-rewrites=one})' %s 2>&1 | filecheck %s --check-prefix=VALUE
// RUN: not nn-opt --pass-pipeline='builtin.module(canonicalize{speed=1})' %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not nn-opt --pass-pipeline='cse' %s 2>&1 | filecheck %s --check-prefix=ANCHOR
// RUN: not nn-opt --pass-pipeline='builtin.module(func.func(symbol-dce))' %s 2>&1 | filecheck %s --check-prefix=NEST
// RUN: not nn-opt --pass-pipeline='func.func(cse)' %s 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: not nn-opt --pass-pipeline='builtin.module(cse)' --cse %s 2>&1 | filecheck %s --check-prefix=BOTH

// NAME:      <pass pipeline>:1:30: error: 'cannonicalize' does not refer to a registered pass or pass pipeline; did you mean 'canonicalize'?
// NAME-NEXT: builtin.module(func.func(cse,cannonicalize))
// NAME-NEXT: {{^}}                             ^{{$}}

// COMMA:      :1:30: error: expected ',' after parsing pipeline
// COMMA-NEXT: builtin.module(func.func(cse)cse)
// COMMA-NEXT: {{^}}                             ^{{$}}

// OPEN:  :1:30: error: encountered unbalanced parentheses while parsing pipeline
// CLOSE: :1:20: error: encountered extra closing ')' creating unbalanced parentheses while parsing pipeline
// BRACE: :1:28: error: missing closing '}' while processing pass options
// VALUE: :1:16: error: option 'max-rewrites' takes int; found 'one'
// OPTION: :1:16: error: pass 'canonicalize' has no option 'speed'; it has: disable-patterns, enable-patterns, max-iterations
// ANCHOR: error: expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'
// NEST: :1:26: error: Can't add pass 'SymbolDCE' restricted to 'builtin.module' on a PassManager intended to run on 'func.func', did you intend to nest?
// WRONG: pass_pipeline_errors.mlir:{{[0-9]+}}:1: error: can't run 'func.func' pass manager on 'builtin.module' op
// BOTH: error: nn-opt: '-pass-pipeline' option can't be used with individual pass options
module {}
