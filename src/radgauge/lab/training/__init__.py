"""Fitting and training: weights of metrics, readers and estimators, from data the user has."""
