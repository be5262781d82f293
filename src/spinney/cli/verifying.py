"""Checking, signing and labeling release files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from spinney.cli.errors import REFUSED
from spinney.cli.files import check_suffix, is_standard_output, write_whole, written_whole
from spinney.cli.options import FILE, OUT
from spinney.cli.results import JSON, as_json, wants_json
from spinney.exceptions import ParameterError


@click.command()
@click.argument("release", type=FILE)
@click.option("--ledger", type=FILE, default=None, help="Also require that this ledger holds it, unchanged.")
@click.option("--key", type=FILE, default=None, help="Also require that it was signed with the secret bytes in this file.")
@click.option("--public-key", type=FILE, default=None, help="Also require a signature that this public key verifies.")
@JSON
def verify(release: Path, ledger: Path | None, key: Path | None, public_key: Path | None) -> None:
    """Add up a release's charges and check its noise, with code apart from the one that made it.

    Says line by line what holds. Exit code 1 if something does not, 3 if the file is no release.
    """
    from spinney.verification.checking import verify as check

    found = check(release, ledger=ledger, key=key, public_key=public_key)
    findings = [{"subject": one.subject, "holds": one.holds, "words": one.words} for one in found.findings]
    facts = {"holds": found.holds, "authenticated": found.authenticated, "verdict": found.verdict, "findings": findings}
    click.echo(as_json({"title": found.title, **facts}) if wants_json() else str(found))
    if not found.holds:
        sys.exit(REFUSED)


@click.command()
@click.argument("private", type=FILE)
@click.option("--public", type=FILE, default=None, help="Where to write the public key; by default PRIVATE with .pub appended.")
def keys(private: Path, public: Path | None) -> None:
    """Make a PRIVATE key to sign releases with, which only you may read, and the public key that lets anyone check them."""
    from spinney.verification.keys import make_keys

    told = private.with_name(f"{private.name}.pub") if public is None else public
    make_keys(private, told)
    click.echo(f"Wrote {private}, which stays secret, and {told}, to be published.")


@click.command()
@click.argument("release", type=FILE)
@click.option("--key", type=FILE, default=None, help="A file of at least 16 secret bytes, shared with those who verify.")
@click.option("--private-key", type=FILE, default=None, help="Or a private key of 'spinney keys'; its public key verifies.")
def sign(release: Path, key: Path | None, private_key: Path | None) -> None:
    """Write a signature into a release file, so that any later change is noticed."""
    from spinney.releases.reading import read_release
    from spinney.verification.keys import read_key

    if (key is None) == (private_key is None):
        raise ParameterError("A release is signed with one key.", "--key FILE or --private-key FILE.")
    secret, loaded = None if key is None else read_key(key), read_release(release)
    if loaded.format.endswith("/1"):
        raise ParameterError(f"{release} is of a format that has no signature.", "sign releases of a later one.")
    with written_whole(release) as part:
        loaded.signed(secret, private_key=private_key).to_json(part)
    click.echo(f"Signed {release}.")


@click.command()
@click.argument("release", type=FILE)
@click.option("--registry", is_flag=True, help="Write the fields of a deployment registry as JSON, instead of the label.")
@click.option("--out", type=OUT, default=None, help="Where to write it: .md or .json; else as Markdown here.")
def label(release: Path, registry: bool, out: Path | None) -> None:
    """Print a privacy label: what was promised, to whom, by which means, in a page that needs no mathematics."""
    from spinney.releases.reading import read_release
    from spinney.report.label import label_page, privacy_label, registry_entry

    out = None if is_standard_output(out) else out
    if out is not None:
        check_suffix(out, (".json",) if registry else (".md", ".json"))
    loaded = read_release(release)
    told = registry_entry(loaded) if registry else privacy_label(loaded)
    as_json = registry or (out is not None and out.suffix.lower() == ".json")
    text = json.dumps(told, indent=1, ensure_ascii=False) if as_json else label_page(loaded)
    if out is None:
        click.echo(text)
        return
    write_whole(out, text + "\n")
    click.echo(f"Wrote {out}.")
