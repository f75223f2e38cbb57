"""LLVM's code generator as a separate program, as LLVM exits the process on fatal errors.

It reads a line of JSON and LLVM IR text, and writes the requested `assembly`, `object`, or `ir`
after the passes. It imports nothing of the compiler.
"""

import json
import sys


def main() -> None:
    """Read a request, carry it out, write the result."""
    import llvmlite.binding as llvm

    given = json.loads(sys.stdin.buffer.readline())
    text = sys.stdin.buffer.read().decode()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(given["triple"]).create_target_machine(
        cpu=given["cpu"], features=given["features"], opt=given["level"], reloc="pic"
    )
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{machine.triple}"\n'
    module = llvm.parse_assembly(head + text)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=given["level"])
    # Schedules have unrolled and vectorized what is worth it.
    tuning.loop_unrolling = tuning.loop_interleaving = False
    tuning.loop_vectorization = tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    match given["kind"]:
        case "assembly":
            made = machine.emit_assembly(module).encode()
        case "object":
            made = machine.emit_object(module)
        case _:
            made = str(module).encode()
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(str(error))
