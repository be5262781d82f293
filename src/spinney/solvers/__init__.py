"""Clustering of weighted public points. Nothing here is private: it runs on released data, and as the plain baseline."""
