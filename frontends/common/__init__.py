"""What every reader of models shares, whatever the format.

`source` is a file or the bytes of one, `builder` the function that is made of it, `layer` what a
converter sees of one layer, `rows` a format's table of converters, `direct` those of operators
that are ops of `nn` as they are, and `importer` the walk over the layers. The rest are families of
operators with arguments that name no framework.
"""
