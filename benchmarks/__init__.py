"""Time, memory and utility, measured."""
