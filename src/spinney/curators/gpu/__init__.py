"""Rows on a GPU: the same exact integers as those of every other backend, computed by kernels in CUDA C through CuPy."""
