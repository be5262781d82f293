"""A fit: checked parameters, the one run that every estimator and command calls, and its charge."""
