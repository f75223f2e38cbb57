// What the verifier rejects, in upstream's words.
// RUN: nn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

// expected-error @+1 {{'builtin.module' op region should have no arguments}}
"builtin.module"() ({
^bb0(%a: i32):
}) : () -> ()

// -----

// expected-error @+1 {{'builtin.module' op expects region #0 to have 0 or 1 blocks}}
"builtin.module"() ({
^bb0:
  "t.u"() : () -> ()
^bb1:
  "t.u"() : () -> ()
}) : () -> ()
