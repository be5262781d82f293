"""The exact law of everything that a site curator answers in one fit, for many small data sets at once.

An algorithm runs with answers that are made up until it asks a question it has no answer for; the law of that answer is
computed for every data set by a real curator, every answer is tried, and the algorithm runs again. Noise is cut off: what is cut
off has an infinite privacy loss here.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter

import numpy as np

from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.mechanisms.additive import Noise
from spinney.privacy.adjacency import Adjacency
from spinney.questions.catalog import CATALOG
from spinney.questions.counts import CountAnswer
from spinney.questions.ground import Ground


class OpenLedger:
    """Takes every charge."""

    def spend(self, charge, question):
        pass

    def keep(self, record):
        pass


class Recorder:
    """Remembers what noise was asked for; its choices follow a list."""

    statement = "seeded: not private"

    def __init__(self, winners=()):
        self.draws, self._winners = [], list(winners)

    def laplace(self, values, scale):
        self.draws.append(("laplace", scale, np.array(values)))
        return np.array(values)

    def gaussian(self, values, scale):
        self.draws.append(("gaussian", scale, np.array(values)))
        return np.array(values)

    def select(self, scores, scale):
        self.draws.append(("select", scale, np.array(scores)))
        return self._winners.pop(0) if self._winners else 0

    def key(self):
        return b"sixteen  letters"


def select_law(scores, scale):
    """Return the probabilities of the exponential mechanism."""
    weights = np.exp((scores - scores.max()) / scale)
    return weights / weights.sum()


def noise_law(kind, scale, values):
    """Return the probability that discrete noise takes each of these values."""
    if kind == "laplace":
        alpha = np.exp(-1 / scale)
        return (1 - alpha) / (1 + alpha) * alpha ** np.abs(values)
    far = np.arange(-int(40 * scale) - 40, int(40 * scale) + 41)
    return np.exp(-(values**2) / (2 * scale**2)) / np.exp(-(far**2) / (2 * scale**2)).sum()


#: The questions' names by their classes.
NAMES = {entry.question: name for name, entry in CATALOG.items()}


def site_curator(rows, space, unit, ledger, source, groups=None):
    """Return a curator over rows that name points of a space."""
    backend = DemandBackend(np.asarray(rows), Ground(None, space.n_points, space), unit, source.key, groups)
    return Curator(backend, unit, ledger, source)


class UnansweredError(Exception):
    """An algorithm asks something that has no answer yet."""

    def __init__(self, question, charge):
        super().__init__(NAMES[type(question)])
        self.question, self.charge = question, charge
        self.name = NAMES[type(question)]
        (self.argument,) = vars(question).values()

    @property
    def key(self):
        arrays = [value for value in vars(self.argument).values() if isinstance(value, np.ndarray | tuple)]
        return self.name, self.charge, repr([np.asarray(value).tolist() for value in arrays])


class Script(Curator):
    """Gives the answers of a list, and then raises `UnansweredError`."""

    def __init__(self, space, unit, answers):
        nobody = site_curator(np.empty(0), space, unit, OpenLedger(), Recorder())
        super().__init__(nobody._rows, unit, nobody.ledger, nobody._source)
        self._answers = list(answers)

    def ask(self, question, charge):
        question.check(self.ground)
        if not self._answers:
            raise UnansweredError(question, charge)
        return self._answers.pop(0)


@dataclasses.dataclass
class Loss:
    """The distribution of the privacy loss under the first of two data sets: its values, and their probabilities."""

    values: np.ndarray
    masses: np.ndarray

    @classmethod
    def merged(cls, values, masses):
        finite = np.isfinite(values)
        unique, place = np.unique(np.round(values[finite], 11), return_inverse=True)
        sums = np.bincount(place, masses[finite], minlength=len(unique)) if len(unique) else np.empty(0)
        return cls(np.append(unique, np.inf), np.append(sums, masses[~finite].sum()))

    def delta(self, epsilon):
        """Return the least delta at this epsilon."""
        with np.errstate(over="ignore"):
            return float(self.masses @ np.maximum(0, -np.expm1(epsilon - self.values)))

    @property
    def largest(self):
        return float(self.values[:-1][self.masses[:-1] > 0].max(initial=-np.inf))


def data_sets(n_points, most):
    """All data sets of at most so many rows."""
    return [rows for n in range(most + 1) for rows in itertools.combinations_with_replacement(range(n_points), n)]


def neighbors(data, adjacency, max_rows=1):
    """All ordered pairs of places of data sets that one unit leads from one to the other."""
    pairs = []
    for one, other in itertools.permutations(range(len(data)), 2):
        left, right = Counter(data[one]), Counter(data[other])
        lost, gained = (left - right).total(), (right - left).total()
        # One side of a replacement may be empty: a person without a name has no rows that count.
        near = Adjacency(adjacency) is Adjacency.REPLACE or min(lost, gained) == 0
        if near and max(lost, gained) <= max_rows:
            pairs.append((one, other))
    return pairs


class Explorer:
    """Walks through all transcripts of one algorithm.

    Parameters
    ----------
    run : callable
        Takes a curator; asks it everything.
    space, unit
    data : list of tuples of int
    pairs : list of pairs of places in `data`
    reach : float
        Noise is cut off at so many of its scales.
    forgets : set of str
        The names of charges after which an algorithm depends on earlier answers through its next question alone.
    """

    def __init__(self, run, space, unit, data, pairs, reach, forgets):
        self._run, self._space, self._unit, self._pairs = run, space, unit, pairs
        self._reach, self._forgets, self._data = reach, forgets, data
        self._seen, self.runs = {}, 0

    def losses(self):
        """Return the distribution of the loss of each pair."""
        return self._explore([])

    def _question(self, answers):
        """Return what is asked after these answers, or None."""
        self.runs += 1
        try:
            self._run(Script(self._space, self._unit, answers))
        except UnansweredError as ask:
            return ask
        return None

    def _explore(self, answers):
        return self._follow(self._question(answers), answers)

    def _follow(self, ask, answers):
        if ask is None:
            return {pair: Loss(np.array([0.0, np.inf]), np.array([1.0, 0.0])) for pair in self._pairs}
        replies, law = self._law(ask)
        if ask.charge.name == "sizes":  # nothing comes after it
            return self._joined(law, [self._follow(None, ())], np.zeros(len(replies), dtype=np.int64))
        children, places, tables = {}, np.empty(len(replies), dtype=np.int64), []
        for row, reply in enumerate(replies):
            after = [*answers, reply]
            question = self._question(after)
            forgets = ask.charge.name in self._forgets or (question is not None and question.charge.name == "sizes")
            key = question.key if forgets and question is not None else row
            if key not in children:
                children[key] = len(tables)
                if not forgets or key not in self._seen:
                    self._seen[key] = self._follow(question, after)
                tables.append(self._seen[key])
            places[row] = children[key]
        return self._joined(law, tables, places)

    def _joined(self, law, tables, places):
        joined = {}
        with np.errstate(divide="ignore"):
            logs = np.log(law)
        for pair in self._pairs:
            one, other = pair
            values, masses = [np.array([np.inf])], [np.array([max(0.0, 1 - law[:, one].sum())])]
            gap = logs[:, one] - logs[:, other]
            for child, table in enumerate(tables):
                mine = Loss.merged(gap[places == child], law[places == child, one])
                values.append(np.add.outer(mine.values, table[pair].values).ravel())
                masses.append(np.outer(mine.masses, table[pair].masses).ravel())
            joined[pair] = Loss.merged(np.concatenate(values), np.concatenate(masses))
        return joined

    def _ask(self, rows, ask, winners=()):
        source = Recorder(winners)
        curator = site_curator(np.array(rows, dtype=np.int64), self._space, self._unit, OpenLedger(), source)
        curator.ask(ask.question, ask.charge)
        return source.draws

    def _law(self, ask):
        """Return all answers, and the probability of each of them for each data set."""
        if ask.name == "counts":
            draws = [self._ask(rows, ask)[0] for rows in self._data]
            kind, scale, _ = draws[0]
            assert {draw[:2] for draw in draws} == {(kind, scale)}
            exact = np.array([draw[2] for draw in draws])
            width = max(1, int(np.ceil(self._reach * scale)))
            grid = np.arange(exact.min() - width, exact.max() + width + 1)
            single = noise_law(kind, scale, grid[:, None] - exact.ravel()).reshape(len(grid), *exact.shape)
            values = list(itertools.product(range(len(grid)), repeat=exact.shape[1]))
            law = np.ones((len(values), len(draws)))
            for slot, place in enumerate(np.array(values).T):
                law *= single[place, :, slot]
            noise = Noise(kind, scale)
            return [CountAnswer(grid[list(value)].astype(np.int64), noise) for value in values], law
        if ask.name == "choose":
            draws = [self._ask(rows, ask)[0] for rows in self._data]
            return list(range(len(ask.argument))), np.array([select_law(scores, scale) for _, scale, scores in draws]).T
        paths = list(itertools.product(range(ask.argument.n_sets), repeat=sum(ask.argument.steps)))
        law = np.empty((len(paths), len(self._data)))
        for (row, path), (column, rows) in itertools.product(enumerate(paths), enumerate(self._data)):
            draws = self._ask(rows, ask, path)
            law[row, column] = np.prod([select_law(d[2], d[1])[winner] for d, winner in zip(draws, path, strict=True)])
        return [np.array(path) for path in paths], law
