"""Rows of an array as if they were on disk."""

from spinney.tables.streams import Batches, batch_rows


class ArrayBatches(Batches):
    """Rows in batches of a size, by default of the largest that is allowed; counts passes and the rows that were read."""

    columns = None

    def __init__(self, rows, size=None, groups=None):
        self.rows, self.size, self.groups, self.n_features = rows, size, groups, rows.shape[1]
        self.has_groups, self.passes, self.n_read = groups is not None, 0, 0

    def read(self):
        return self.read_from(0)

    def read_from(self, start):
        self.passes += 1
        size = self.size or batch_rows(self.n_features)
        for first in range(start, len(self.rows), size):
            batch = self.rows[first : first + size]
            self.n_read += len(batch)
            yield batch

    def read_groups(self):
        return self.groups
