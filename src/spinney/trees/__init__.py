"""Hierarchies as flat arrays."""
