"""Programs of PIR of one operator, as PaddlePaddle 3 writes them."""

import json

import nnc


def attribute(name, value):
    """An attribute as PIR's JSON has it."""
    kinds = {bool: "bool", int: "i32", float: "f32", str: "str"}
    if isinstance(value, list):
        return {"N": name, "AT": {"#": "0.a_array", "D": [attribute("", v)["AT"] for v in value]}}
    return {"N": name, "AT": {"#": f"0.a_{kinds[type(value)]}", "D": value}}


TYPES = {"float32": "f32", "int32": "i32", "int64": "i64"}


def operator(kind, number, shape, attributes, inputs=(), element="f32"):
    made = {"%": number, "TT": {"#": "0.t_dtensor", "D": [{"#": f"0.t_{element}"}, list(shape)]}}
    given = [attribute(name, value) for name, value in attributes.items()]
    return {"#": f"1.{kind}", "A": given, "I": [{"%": i} for i in inputs], "O": [made]}


def run(kind, inputs, attributes):
    """What an operator makes of its inputs."""
    ops = [
        operator("data", i, x.shape, {"name": f"x{i}"}, element=TYPES[x.dtype.name])
        for i, x in enumerate(inputs, 1)
    ]
    numbers = range(1, len(inputs) + 1)
    ops.append(operator(kind, 9, [-1] * inputs[0].ndim, attributes, numbers))
    ops.append(operator("fetch", 10, [-1] * inputs[0].ndim, {"name": "y"}, [9]))
    return run_program(ops, inputs)


def run_program(ops, inputs):
    """What a program's operators make of its inputs."""
    program = {"regions": [{"blocks": [{"args": [], "ops": ops}]}]}
    whole = {"base_code": {"magic": "pir", "version": 1}, "program": program}
    return nnc.compile(json.dumps(whole).encode(), cache=False)(*inputs)
