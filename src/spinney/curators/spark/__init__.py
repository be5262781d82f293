"""Rows of a Spark DataFrame, on a classic session or on Spark Connect. Nothing here imports pyspark before a user has."""
