"""Pipelines of Spark ML: estimators and a model. Importing this imports pyspark."""

from __future__ import annotations

from spinney.estimators.spark import SparkClusterModel, SparkPrivateKMeans, SparkPrivateKMedian

__all__ = ["SparkClusterModel", "SparkPrivateKMeans", "SparkPrivateKMedian"]
