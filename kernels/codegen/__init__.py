"""From a plan to code, in steps that each print: tiles, vectors, addresses."""
