"""Pages and pictures of releases."""
