"""What may be published: centers, sites, covers; what was promised, and reading it back."""
