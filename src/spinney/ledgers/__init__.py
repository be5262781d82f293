"""Adding up many fits: the file, the filter, the journal."""
