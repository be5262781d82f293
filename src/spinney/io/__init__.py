"""Reading tables and bounds from files."""
