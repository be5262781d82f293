"""Private rows live here, behind a short closed list of noisy questions."""
