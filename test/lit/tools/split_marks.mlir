// Marks of one's own: where the input is split, and what stands between the results.
// RUN: nn-opt --split-input-file='// next' --output-split-marker='// then' %S/Inputs/marks.txt | filecheck %s
// RUN: nn-opt --split-input-file='// next' --output-split-marker= %S/Inputs/marks.txt | filecheck %s --check-prefix=NONE
// RUN: not nn-opt --split-input-file='// next' --canonicalize='max-rewrites=0 nope=1' %S/Inputs/marks.txt 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: nn-opt --split-input-file='// neck' %S/Inputs/marks.txt 2>&1 | filecheck %s --check-prefix=NEAR

// CHECK:      func.func private @a()
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: {{^}}// then
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func private @b()
// CHECK-NOT:  // then

// NONE:      @a()
// NONE-NEXT: }
// NONE-EMPTY:
// NONE-EMPTY:
// NONE-NEXT: module {

// ERROR: error: pass 'canonicalize' has no option 'nope'

// NEAR: marks.txt:2:6: warning: near miss with file split marker
module {}
