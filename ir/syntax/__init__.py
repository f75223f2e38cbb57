"""The text of the IR: grammar, lexer, assembly formats, parser, printer.

Reading: `grammar.lark` and the loaded dialects' formats make a language (`grammar.py`) whose
parse tables Lark builds once (`tables.py`). `session.py` runs them over a text with the
tokens of `lexer.py`. The actions (`actions*.py`) make attributes and types, and for each
operation a light tuple, from which `build.py` makes the operations, outermost first.

Writing: `printer.py` walks the operations, names values (`naming.py`), gives aliases
(`aliases.py`), and leaves the text of each op to the elements of its format.

`format.py` explains assembly formats.
"""
