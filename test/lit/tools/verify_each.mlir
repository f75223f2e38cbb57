// --verify-each=0 leaves out verification after passes; the time it takes shows whether it ran.
// RUN: nn-opt --cse --mlir-timing %s 2>&1 | filecheck %s --check-prefix=ON
// RUN: nn-opt --cse --mlir-timing --verify-each %s 2>&1 | filecheck %s --check-prefix=ON
// RUN: nn-opt --cse --mlir-timing --verify-each=1 %s 2>&1 | filecheck %s --check-prefix=ON
// RUN: nn-opt --cse --mlir-timing --verify-each=0 %s 2>&1 | filecheck %s --check-prefix=OFF
// RUN: nn-opt --cse --mlir-timing -verify-each=false %s 2>&1 | filecheck %s --check-prefix=OFF
// RUN: not nn-opt --cse --verify-each=2 %s 2>&1 | filecheck %s --check-prefix=ERROR

// ON:      CSE
// ON-NEXT: (V) Verifier
// OFF:     CSE
// OFF-NOT: (V) Verifier
// ERROR: error: nn-opt: option '--verify-each' takes true or false (1 or 0), not '2'
module {}
