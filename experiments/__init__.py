"""Experiments of papers, repeated with this library; each is a module with a page of results beside it."""
