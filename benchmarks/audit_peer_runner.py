"""Runs a peer's fits in the peer's own environment: needs numpy and the peer alone.

Reads one JSON line from standard input: ``{"peer", "tables" (a .npz with first and second), "runs", "epsilon", "k", "lower",
"upper", "seed"}``, with ``"names"`` where only some of the tables are wanted, and writes one JSON line:
for each table and run the sorted centers, or an error's name.
"""

import json
import sys
import warnings

import numpy as np


def diffprivlib_kmeans(options, table, seed):
    """Fit diffprivlib's k-means, with bounds given."""
    from diffprivlib.models import KMeans

    bounds = (np.array(options["lower"]), np.array(options["upper"]))
    model = KMeans(n_clusters=options["k"], epsilon=options["epsilon"], bounds=bounds, random_state=seed)
    return model.fit(table).cluster_centers_


PEERS = {"diffprivlib KMeans": diffprivlib_kmeans}


def main():
    """Answer one request."""
    options = json.loads(sys.stdin.readline())
    warnings.simplefilter("ignore")
    tables = np.load(options["tables"])
    found = {}
    for place, name in enumerate(options.get("names", ("first", "second"))):
        found[name] = []
        for run in range(options["runs"]):
            seed = options["seed"] + 2 * run + place
            try:
                centers = PEERS[options["peer"]](options, tables[name], seed)
                found[name].append(np.asarray(centers, dtype=float).tolist())
            except Exception as error:  # an outcome too
                found[name].append(type(error).__name__)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
