"""One file per published algorithm: a plan made from public facts, and a run over curator answers."""
