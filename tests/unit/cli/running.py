"""Running a command in this process, and what is expected of one that fails."""

from click.testing import CliRunner

from spinney.cli.main import main
from spinney.mechanisms.source import SeededSource


def run(*arguments):
    return CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)


def refused(result, code, words=""):
    """Check that a command ended with this code and one line, which says what to type; return the line."""
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert words in line
    assert "Hint: " in line
    return line


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def seeded(monkeypatch, seed=7):
    """Let every fit draw the same noise and the same public randomness."""
    import numpy as np

    monkeypatch.setattr("spinney.fits.run.noise_source", lambda _: SeededSource(seed))
    monkeypatch.setattr("spinney.fits.run.generator", lambda *_: np.random.default_rng(seed))


def must_not_run(*arguments, **options):
    raise AssertionError("private rows were read")
