// What is wrong with a target is said once, with the nearest names or with both targets.
// RUN: not nn-opt --target=avx515 %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not nn-opt --choose-schedules=target=avx515 %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not nn-opt --target=sse %s 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not nn-opt --apply-schedules=target=x86-64 %s 2>&1 | filecheck %s --check-prefix=OTHER

// UNKNOWN: error: no target is named 'avx515'; near: avx512, avx2; `nnc targets` lists all
// OTHER: target_errors.mlir:10:1: error: the module is for target 'x86-64-v3' (cores 8), but 'x86-64' is asked for: leave the target out, or start from the model

module attributes {nnc.target = {name = "avx2", machine = {cores = 8 : i64}}} {
}
