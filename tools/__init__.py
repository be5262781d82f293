"""Makers and keepers: seeded releases of two commits, planted faults, and what documents and the package are made of."""
