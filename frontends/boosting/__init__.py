"""Front ends for tree ensembles: models saved by XGBoost, LightGBM and CatBoost.

Each library's module turns a file into a graph with one node, an `Ensemble`; `ops/` imports it.
"""
