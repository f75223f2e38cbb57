"""Ensembles of trees in: the models that XGBoost, LightGBM and CatBoost save themselves.

Each library's module makes one node of a file, an `Ensemble`; `ops/` imports it.
"""
