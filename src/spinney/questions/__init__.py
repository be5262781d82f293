"""What may be asked about private rows: a closed list, one file per question."""
