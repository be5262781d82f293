"""What is promised: budgets, adjacency, charges, composition, the ledger and the release."""
