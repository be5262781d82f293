"""The sources of another commit, to run on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.pages import ROOT

__all__ = ["full_name", "run_on"]

#: Tells a process that runs on other sources of which commit these are.
VARIABLE = "BENCHMARKS_COMMIT"


def full_name(commit: str) -> str:
    """Return the first twelve digits of a commit."""
    told = subprocess.run(["git", "rev-parse", f"{commit}^{{commit}}"], check=True, capture_output=True, text=True, cwd=ROOT)
    return told.stdout.strip()[:12]


def run_on(commit: str | None, module: str, *arguments: str) -> None:
    """Run a module of these benchmarks on the sources of a commit, or on those that are here."""
    with tempfile.TemporaryDirectory() as folder:
        sources, environment = str(ROOT), dict(os.environ)
        if commit is not None:
            archive = subprocess.run(["git", "archive", commit, "src"], check=True, capture_output=True, cwd=ROOT).stdout
            subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
            sources, environment[VARIABLE] = folder, full_name(commit)
        paths = [f"{sources}/src", str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        subprocess.run([sys.executable, "-m", module, *arguments], check=True, env=environment)
