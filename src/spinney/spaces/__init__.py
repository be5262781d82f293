"""Where points live. Everything here is public."""
