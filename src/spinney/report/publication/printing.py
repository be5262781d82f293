"""A report as PDF: the page of HTML, printed by a browser without a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from spinney.exceptions import DataError

#: What browsers that print are called, and where they are if not on the path.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
#: What a browser is told: no window, no tour, no lines above and below the page, and no calls home.
SWITCHES = (
    "headless", "disable-gpu", "no-first-run", "disable-extensions", "disable-background-networking", "no-pdf-header-footer",
)  # fmt: skip
#: Seconds that a browser may take.
PATIENCE = 120


def find_browser() -> str | None:
    """Return the path of a browser that prints, or None."""
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in found if path), None) or next((path for path in PLACES if Path(path).exists()), None)


def print_pdf(page: str, path: str | os.PathLike[str]) -> None:
    """Print a page of HTML to a PDF; the browser has a profile of its own and no network is needed."""
    browser = find_browser()
    hint = "write a report that ends in .html, and print it from any browser."
    if browser is None:
        raise DataError("No browser was found that prints a PDF: Chromium, Chrome or Edge.", hint)
    with tempfile.TemporaryDirectory(prefix="spinney-", ignore_cleanup_errors=True) as folder:
        source, target = Path(folder) / "report.html", Path(folder) / "report.pdf"
        source.write_text(page, encoding="utf-8")
        switches = [*SWITCHES, f"user-data-dir={folder}/profile", f"print-to-pdf={target}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            switches.append("no-sandbox")  # browsers refuse to start as root without it; the page has no script
        command = [browser, *("-" * 2 + switch for switch in switches)]
        try:
            subprocess.run([*command, source.as_uri()], capture_output=True, timeout=PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired):
            target.unlink(missing_ok=True)
        if not target.is_file() or not target.stat().st_size:
            raise DataError("The browser printed no PDF.", hint)
        shutil.copyfile(target, path)
