"""Checking a release against the policy of whoever decides on it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from spinney.cli.errors import REFUSED
from spinney.cli.files import check_suffix, is_standard_output, write_whole
from spinney.cli.options import FILE, OUT


@click.command()
@click.argument("release", type=FILE)
@click.option("--policy", type=FILE, required=True, help="What a release must keep to: a TOML file of few keys.")
@click.option("--ledger", type=FILE, default=None, help="The ledger that was charged.")
@click.option("--key", type=FILE, default=None, help="The secret bytes that it was signed with.")
@click.option("--public-key", type=FILE, default=None, help="Or the public key of whoever signed it.")
@click.option("--plan", type=FILE, default=None, help="What 'spinney plan' printed, as it was approved.")
@click.option("--page", type=FILE, default=None, help="The .html that 'spinney report' wrote of it.")
@click.option("--out", type=OUT, default=None, help="Where to write the answer: .html, .md or .txt; else as text here.")
def check(
    release: Path, policy: Path, ledger: Path | None, key: Path | None, public_key: Path | None, plan: Path | None,
    page: Path | None, out: Path | None,
) -> None:  # fmt: skip
    """Say whether a release may be published under a policy: yes or no, line by line, each with its reason.

    Exit code 1 if the answer is no, 3 if a file is no release or no policy.
    """
    from spinney.report.approval.lines import approve
    from spinney.report.publication.html import to_html
    from spinney.report.publication.plain import to_markdown, to_text

    writers = {".html": to_html, ".md": to_markdown, ".txt": lambda document: to_text(document) + "\n"}
    out = None if is_standard_output(out) else out
    if out is not None:
        check_suffix(out, tuple(writers))
    found = approve(release, policy, ledger=ledger, key=key, public_key=public_key, plan=plan, page=page)
    document = found.document()
    if out is None:
        click.echo(to_text(document))
    else:
        write_whole(out, writers[out.suffix.lower()](document))
        click.echo(f"Wrote {out}: {document.title}.")
    if not found.holds:
        sys.exit(REFUSED)
