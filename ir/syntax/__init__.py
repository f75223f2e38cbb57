"""The text of the IR: grammar, lexer, assembly formats, parser, printer.

Reading: `grammar.lark` and the loaded dialects' formats make a language (`grammar.py`) whose
parse tables Lark builds once (`tables.py`). `session.py` runs them over a text with the
tokens of `lexer.py`; `actions.py` makes attributes and types of what is recognized, and light
tuples of operations, which `build.py` turns into operations from the top down.

Writing: `printer.py` walks the operations, names values (`naming.py`), gives aliases
(`aliases.py`), and leaves the text of each op to the elements of its format.

`format.py` explains assembly formats.
"""
