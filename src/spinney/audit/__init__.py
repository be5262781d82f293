"""Measuring, from outside, the epsilon that is really spent."""
