"""What the readers of all model formats share.

`source` is where a model comes from, `builder` the function that an import makes, `layer` what a
converter sees of one layer, and `rows` a format's table of converters. `direct` makes converters of
operators that equal one op of `nn`, and `importer` walks over the layers. Each other file is a
family of operators, whose functions have arguments that name no framework.
"""
