"""A benchmark on the sources of another commit, to compare with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.tables import ROOT

__all__ = ["on_commit"]


def on_commit(commit: str, module: str, *arguments: str) -> list[Any]:
    """Run a benchmark of this folder on the sources of another commit, and return the JSON that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit, "src"], check=True, capture_output=True, cwd=ROOT).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        environment = {**os.environ, "PYTHONPATH": f"{folder}/src{os.pathsep}{ROOT}"}
        command = [sys.executable, "-m", module, "--json", *arguments]
        return list(json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout))
