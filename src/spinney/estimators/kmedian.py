"""Private k-median."""

from __future__ import annotations

from spinney.estimators.clusterer import PrivateClusterer


class PrivateKMedian(PrivateClusterer):
    """k-median clustering of private rows (sum of distances, not squared); everything it stores may be published.

    Parameters, attributes and the privacy statement as for `PrivateKMeans`.
    """

    _objective = "kmedian"
