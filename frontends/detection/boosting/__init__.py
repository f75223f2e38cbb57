"""How the models of libraries of boosted trees are known."""
