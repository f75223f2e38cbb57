"""Small experiments on a machine, and the numbers of its description that they give."""
