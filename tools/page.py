"""A report in a browser: console messages, requests, findings of axe-core, printed pages and bytes.

``python -m tools.page --axe axe.min.js`` writes ``tools/results/page.json``; ``--screenshots FOLDER`` keeps pictures,
wide and narrow. Needs Chromium, Chrome or Edge, which is driven through a pipe by its own protocol; axe-core is one file of
the npm package of that name, and is left out without ``--axe``.
"""

import argparse
import base64
import contextlib
import json
import os
import re
import subprocess
import tempfile
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

from spinney import FiniteMetric, Ledger, PrivateKMeans, PrivateKMedoids, Release, describe, max_coverage, verify
from spinney.datasets import patients, patients_schema
from spinney.privacy.charges import Charge, Measure
from spinney.report import cost_curve, html_page
from spinney.report.publication.printing import find_browser
from spinney.tables.schema_files import read_schema

RESULT = Path(__file__).parent / "results" / "page.json"
#: The widths that pages are looked at in.
WIDTHS = (320, 375, 768, 1280, 1920)
#: What is cut or stands beyond the page: an element whose box, or whose content, is wider than what holds it. Elements that
#: are there for those who listen are left out.
BEYOND = """[...document.querySelectorAll('body *')].filter(one => !one.closest('.hidden') && !one.matches('title,desc')
  && getComputedStyle(one).display !== 'none' && (one.getBoundingClientRect().right > innerWidth + 0.5
  || one.getBoundingClientRect().left < -0.5 || (one instanceof HTMLElement && one.scrollWidth > one.clientWidth + 1
  && getComputedStyle(one).overflowX !== 'visible')))
  .map(one => one.tagName + ' ' + (one.textContent || '').slice(0, 40)).slice(0, 5)"""
#: Words of headings that are broken: a word that stands on more than one line.
BROKEN = """[...document.querySelectorAll('h1,h2,th,dt,figcaption,caption')].flatMap(one => {
  const walk = document.createTreeWalker(one, NodeFilter.SHOW_TEXT), found = [];
  for (let node; (node = walk.nextNode());) for (const word of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
    const range = document.createRange();
    range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
    const lines = new Set([...range.getClientRects()].filter(r => r.width).map(r => Math.round(r.top)));
    if (lines.size > 1 && word[0].length < 20) found.push(word[0]);
  }
  return found;
}).slice(0, 5)"""
#: Words of a picture that lie on each other, or beyond its frame.
COVERED = """[...document.querySelectorAll('figure svg')].flatMap(svg => {
  const box = svg.getBoundingClientRect(), found = [];
  const texts = [...svg.querySelectorAll('text:not(.n)')].map(t => [t.textContent, t.getBoundingClientRect()]);
  for (const [i, [name, a]] of texts.entries()) {
    if (a.left < box.left - 1 || a.right > box.right + 1 || a.top < box.top - 1 || a.bottom > box.bottom + 1)
      found.push(name + ' beyond');
    for (const [other, b] of texts.slice(i + 1))
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
        found.push(name + ' on ' + other);
  }
  return found;
}).slice(0, 5)"""
#: What is looked for in each width, and must not be there.
FAULTS = {"beyond": BEYOND, "broken": BROKEN, "covered": COVERED}
#: What must hold: pages printed, bytes, and the rest none at all.
MOST_PAGES, MOST_BYTES = 4, 1_000_000
HOSTILE = '<script>alert(1)</script><img src="http://example.invalid/x" onerror="alert(2)">&amp;\u202e'


#: A page with everything that must not be: it shows that the measures see it.
WRONG = """<html><head><title>x</title></head><body><script>console.log(1)</script><img src="http://127.0.0.1:9/x">
<p style="color:#bbb">pale</p><div style="width:3000px">wide</div>
<h1 style="width:3em;overflow-wrap:anywhere">Differentially</h1></body></html>"""


class Browser:
    """A browser without a window, asked through a pipe: one JSON message after the other, each ended by a zero byte."""

    def __init__(self, folder):
        down, up = os.pipe(), os.pipe()
        command = [find_browser(), "--headless", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
        command += [f"--user-data-dir={folder}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        shell = ["sh", "-c", f'exec "$@" 3<&{down[0]} 4>&{up[1]}', "sh", *command]
        self.process = subprocess.Popen(
            shell, pass_fds=(down[0], up[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )  # fmt: skip
        os.close(down[0])
        os.close(up[1])
        self.out, self.into = os.fdopen(down[1], "wb"), os.fdopen(up[0], "rb")
        self.number, self.session, self.rest, self.events = 0, None, b"", []

    def _receive(self):
        while b"\0" not in self.rest:
            found = os.read(self.into.fileno(), 2**20)
            if not found:
                raise RuntimeError("the browser ended")
            self.rest += found
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **parameters):
        """Ask for something, and return the answer; what happens meanwhile is kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        self.out.write(json.dumps(message | ({"sessionId": self.session} if self.session else {})).encode() + b"\0")
        self.out.flush()
        while True:
            answer = self._receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self):
        """Open an empty page, and listen."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def load(self, path, width):
        """Show a page in a width, and wait until it is there."""
        self.events.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.ask("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def value(self, code):
        """Return what a piece of script returns."""
        found = self.ask("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"])[:500])
        return found["result"].get("value")

    def close(self):
        """End the browser."""
        with contextlib.suppress(Exception):
            self.ask("Browser.close")
        self.process.wait(timeout=30)


def look(browser, path, axe, screenshots):
    """Return what is found about one page."""
    found = {"bytes": path.stat().st_size, "console": 0, "requests": 0, "axe": [], **{name: [] for name in FAULTS}}
    for width in WIDTHS:
        browser.load(path, width)
        for name, code in FAULTS.items():
            found[name] += [[width, one] for one in browser.value(code)]
        if screenshots:
            shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png")
            (screenshots / f"{path.stem}-{width}.png").write_bytes(base64.b64decode(shot["data"]))
        methods = [event.get("method") for event in browser.events]
        found["console"] += sum(
            one in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded") for one in methods
        )
        urls = [e["params"]["request"]["url"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
        found["requests"] += sum(url != path.as_uri() and not url.startswith("data:") for url in urls)
        if axe:
            browser.value(axe + ";0")
            for one in browser.value("axe.run().then(r => r.violations.map(v => [v.id, v.impact, v.nodes.length]))"):
                found["axe"].append([width, *one])
    pdf = base64.b64decode(browser.ask("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
    if screenshots:
        (screenshots / f"{path.stem}.pdf").write_bytes(pdf)
    found["pages"] = len(re.findall(rb"/Type\s*/Page\b", pdf))
    return found


def releases(folder):
    """Yield releases by name, with what else their reports show."""
    rng = np.random.default_rng(0)
    kind = rng.integers(6, size=20_000)
    middles = np.array([[22, 18, 1], [34, 45, 2], [47, 88, 3], [52, 30, 9], [66, 60, 6], [79, 24, 14]])
    rows = middles[kind] + rng.normal(size=(len(kind), 3)) * [4, 6, 0.8]
    table = pd.DataFrame(rows, columns=["age", "income (1,000)", "visits"])
    ledger = Ledger(folder / "stays.jsonl", epsilon=40, delta=1e-5)
    model = PrivateKMeans(6, epsilon=1.0, bounds={"age": (0, 110), "income (1,000)": (0, 200), "visits": (0, 40)}, random_state=0)
    for year in range(2016, 2026):
        ledger.spend(model.plan(3).charges, objective="kmeans", algorithm="tree", note=f"the stays of {year}, all wards")
    release = model.fit(table, ledger=ledger).release_
    yield (
        "centers",
        release,
        {"ledger": ledger, "curve": cost_curve(release, 12), "names": {0: "young, little income", 3: "often here"}},
    )
    persons = Ledger(folder / "persons.jsonl", epsilon=2, max_rows_per_group=2)
    segments = PrivateKMeans("auto", max_clusters=8, epsilon=1.0, bounds=read_schema(patients_schema()), max_rows_per_group=2)
    segments.fit(patients(), groups="person")
    yield "patients", segments.release_, {}
    facts = {"stay": (0, 60), "smoker": ["yes", "no"]}
    described = describe(segments.release_, patients(), bounds=facts, epsilon=0.5, groups="person", ledger=persons)
    described.to_json(folder / "described.json")
    checked = verify(folder / "described.json", ledger=folder / "persons.jsonl")
    yield "description", described, {"described": segments.release_, "ledger": persons, "verification": checked}
    names = [f"answer {i}" for i in range(12)]
    many = table.assign(
        **{name: rng.uniform(0, 100, len(table)) for name in names}, ward=rng.choice(list("abcdefghij"), len(table))
    )
    wide = {**dict.fromkeys(names, (0, 100)), "ward": list("abcdefghij")}
    yield "description of many", describe(release, many, bounds=wide, epsilon=1.0), {"described": release}
    yield "plane", PrivateKMeans(5, epsilon=1.0, bounds=(0, 110)).fit(rows[:, :2]).release_, {}
    for d in (10, 60):
        places = rng.uniform(0, 1, (8, d))[rng.integers(8, size=20_000)] + rng.normal(0, 0.05, (20_000, d))
        long = {f"Proportion of reimbursements {i}": (0, 1) for i in range(d)}
        frame = pd.DataFrame(places, columns=list(long))
        yield f"{d} columns", PrivateKMeans(8, epsilon=2.0, delta=1e-6, bounds=long).fit(frame).release_, {}
    wards = ["cardiology", "otorhinolaryngology", "gynecology", "orthopedics", "intensive care", "x-ray"]
    units = {"ward": wards, "insured": bool, "admitted": {"dates": ["2021-01-01", "2025-12-31"], "unit": 700}}
    stays = pd.DataFrame({"ward": rng.choice(wards, 9_000), "insured": rng.random(9_000) < 0.5})
    stays["admitted"] = pd.to_datetime("2021-01-01") + pd.to_timedelta(rng.integers(1800, size=9_000), unit="D")
    mixed = PrivateKMeans("auto", max_clusters=12, epsilon=1.0, bounds=units).fit(stays)
    yield "categories", mixed.release_, {}
    yield "one column", PrivateKMeans(4, epsilon=1.0, bounds=(0, 110)).fit(rows[:, :1]).release_, {}
    yield "one cluster", PrivateKMeans(1, epsilon=1.0, bounds=(0, 110)).fit(rows[:, :2]).release_, {}
    yield "not private", PrivateKMeans(4, epsilon=1.0, bounds=(0, 110), noise_seed=1).fit(rows[:, :2]).release_, {}
    points = np.column_stack([9 + rng.normal(0, 0.1, 200), 48 + rng.normal(0, 0.1, 200)])
    sites = PrivateKMedoids(8, epsilon=1.0, space=FiniteMetric.from_points(points), existing_sites=[3, 4])
    yield "sites", sites.fit(rng.integers(0, 200, 20_000)).release_, {}
    yield "sites with a map", sites.release_, {"space": sites.space}
    users = PrivateKMeans(4, epsilon=4.0, bounds=(0, 110), adjacency="replace", model="local")
    yield "local", users.fit(rows[:, :2]).release_, {}
    cover = max_coverage(rng.integers(0, 50, 2_000), [[i, i + 1] for i in range(49)], 5, epsilon=1.0, delta=1e-6, n_items=50)
    yield "cover", cover, {}
    yield "largest", largest(release, rng), {"ledger": ledger, "curve": cost_curve(release, 12)}


def pages(folder):
    """Yield pages by name: of releases, and of what else a notebook shows."""
    for name, release, more in releases(folder):
        yield name, html_page(release, **more)
    schema = read_schema(patients_schema())
    plan = PrivateKMeans(8, epsilon=1.0, delta=1e-6, bounds=schema, max_rows_per_group=2).plan(n_guess=10_000)
    for name, shown in (("plan", plan), ("ledger", Ledger(folder / "stays.jsonl"))):
        yield name, f'<!DOCTYPE html><html lang="en"><title>{name}</title><main>{shown._repr_html_()}</main></html>'


def largest(release: Release, rng, d=784):
    """Return a release with as much of everything as there may be, and names that mean harm."""
    k, m = 1_000, 10_000
    box = {"lower": [-1.0] * d, "upper": [1.0] * d}
    swaps = tuple(Charge(f"{HOSTILE} {i}", "sums", Measure.PURE, Fraction(1, 10**6 + i)) for i in range(500))
    return replace(
        release, centers=rng.uniform(-1, 1, (k, d)), sizes=rng.uniform(0, 1e6, k), summary_points=rng.uniform(-1, 1, (m, d)),
        summary_weights=rng.uniform(0, 1e3, m), domain=box, tightened=box, supported_centers=7, charges=swaps, mechanisms=(),
        feature_names=tuple(f"{HOSTILE}{i}" * 3 for i in range(d)),
    )  # fmt: skip


def main():
    """Look at all pages, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--axe", type=Path, default=None)
    parser.add_argument("--screenshots", type=Path, default=None)
    parser.add_argument("--only", default=None)
    given = parser.parse_args()
    axe = given.axe.read_text(encoding="utf-8") if given.axe else ""
    results = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        browser = Browser(folder / "profile")
        try:
            browser.open()
            (folder / "wrong.html").write_text(WRONG, encoding="utf-8")
            wrong = look(browser, folder / "wrong.html", axe, None)
            assert all(wrong[name] for name in ("console", "requests", "beyond", "broken", *(["axe"] if axe else [])))
            version = browser.ask("Browser.getVersion")["product"]
            for title, text in pages(folder):
                if given.only not in (None, title):
                    continue
                path = folder / f"{title.replace(' ', '-')}.html"
                path.write_text(text, encoding="utf-8")
                results[title] = look(browser, path, axe, given.screenshots)
                print(title, results[title], flush=True)
        finally:
            browser.close()
    holds = all(
        one["pages"] <= MOST_PAGES and one["bytes"] < MOST_BYTES
        and not any(one[name] for name in ("console", "requests", "axe", *FAULTS))
        for one in results.values()
    )  # fmt: skip
    axe_version = re.search(r"axe v([\d.]+)", axe)
    record = {"browser": version, "axe": axe_version[1] if axe_version else None, "holds": holds, "pages": results}
    if given.only is None:
        RESULT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print("holds" if holds else "DOES NOT HOLD")


if __name__ == "__main__":
    main()
