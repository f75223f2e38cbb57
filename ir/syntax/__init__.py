"""The text of the IR: grammar, lexer, assembly formats, parser, printer."""
