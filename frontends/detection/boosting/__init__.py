"""Detection of models of gradient boosting libraries."""
