// What no other test provokes of the messages of the dialect arith.
// RUN: nn-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

%0 = "t.s"() : () -> vector<4xi32>
// expected-error@+1 {{'arith.sitofp' op requires the same shape for all operands and results}}
%1 = arith.sitofp %0 : vector<4xi32> to vector<2xf32>

// -----

// expected-error@+1 {{'arith.constant' op value must be an integer, float, or elements attribute}}
%r0:1 = "arith.constant"() <{value = #linalg.iterator_type<parallel>}> : () -> (tuple<>)

// -----

%x = "t.s"() : () -> vector<4xi8>
// expected-error@+1 {{'arith.extsi' op requires the same shape for all operands and results}}
%0 = arith.extsi %x : vector<4xi8> to vector<8xi32>

// -----

// expected-error@+1 {{'arith.constant' op initializing scalable vectors with elements attribute is not supported unless it's a vector splat}}
%0 = arith.constant dense<[1, 2]> : vector<[2]xi32>
