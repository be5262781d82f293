"""Signatures: any change, any other key and any other kind of key is refused; private keys are for their owner alone."""

import hashlib
import hmac
import json
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nested import edited, leaves
from spinney import ParameterError, PrivateKMeans, ReleaseError, verify
from spinney.cli.main import main
from spinney.verification import make_keys
from spinney.verification.canonical import canonical
from spinney.verification.keys import is_signed_by, is_signed_with, read_key, shared_signature

from .conftest import ROWS

SECRET = bytes(range(32))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pair of keys, another pair, a shared secret, and a release signed with each."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("own", "other"):
        make_keys(folder / f"{name}.key", folder / f"{name}.pub")
    (folder / "secret").write_bytes(SECRET)
    release = PrivateKMeans(2, epsilon=1.0, bounds=(-2, 2), algorithm="lloyd").fit(ROWS).release_
    release.to_json(folder / "plain.json")
    release.signed(private_key=folder / "own.key").to_json(folder / "public.json")
    release.signed(SECRET).to_json(folder / "shared.json")
    return folder


def authentic(path, **keys):
    return verify(path, **keys).authenticated


def test_a_signature_is_checked_by_its_own_key_alone(folder):
    public, shared = folder / "public.json", folder / "shared.json"
    assert authentic(public, public_key=folder / "own.pub")
    assert authentic(shared, key=folder / "secret")
    for path, keys in (
        (public, {"public_key": folder / "other.pub"}),
        (public, {"key": folder / "secret"}),
        (shared, {"public_key": folder / "own.pub"}),
        (folder / "plain.json", {"public_key": folder / "own.pub"}),
        (folder / "plain.json", {"key": folder / "secret"}),
        (public, {"public_key": folder / "own.pub", "key": folder / "secret"}),
    ):
        found = verify(path, **keys)
        assert not found.authenticated
        assert not found.holds


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_change_anywhere_is_noticed(data, folder):
    record = json.loads((folder / "public.json").read_text())
    assert is_signed_by(record, folder / "own.pub")
    place, before = data.draw(st.sampled_from(leaves(record)))
    after = data.draw(st.sampled_from([None, 0, 1.5, "", "x", True, f"{before}0"]).filter(lambda one: one != before))
    assert not is_signed_by(edited(record, place, after), folder / "own.pub")


def test_a_signature_of_one_kind_is_never_one_of_the_other(folder):
    record = json.loads((folder / "plain.json").read_text())
    told = (folder / "own.pub").read_bytes()
    forged = record | {"signature": f"hmac-sha256:{hmac.new(told, canonical(record), hashlib.sha256).hexdigest()}"}
    (folder / "forged.json").write_text(json.dumps(forged))
    with pytest.raises(ParameterError, match="no shared secret"):  # what anyone knows is no secret
        verify(folder / "forged.json", key=folder / "own.pub")
    assert not authentic(folder / "forged.json", public_key=folder / "own.pub")
    for path in ("own.pub", "own.key"):
        with pytest.raises(ParameterError, match="no shared secret"):
            read_key(folder / path)
        with pytest.raises(ParameterError, match="no private or public key"):
            shared_signature(record, (folder / path).read_bytes())
    for name in ("secret", "own.key"):
        with pytest.raises(ParameterError, match="no public key of Ed25519"):
            verify(folder / "public.json", public_key=folder / name)
    signed = json.loads((folder / "public.json").read_text())
    own = signed["signature"]
    for text in (own.replace("ed25519:", "hmac-sha256:"), own[:-2], "ed25519:zz", "ed25519:", None):
        changed = signed | {"signature": text}
        assert not is_signed_by(changed, folder / "own.pub")
        assert not is_signed_with(changed, SECRET)
    (folder / "renamed.json").write_text(json.dumps(signed | {"signature": f"ed25519:{'0' * 64}"}))
    with pytest.raises(ReleaseError):
        verify(folder / "renamed.json", public_key=folder / "own.pub")


def test_a_key_of_a_pair_in_any_form_is_no_shared_secret(tmp_path):
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ed25519

    key = ed25519.Ed25519PrivateKey.generate()
    for content in (
        key.public_key().public_bytes(form.Encoding.DER, form.PublicFormat.SubjectPublicKeyInfo),
        key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH),
        key.private_bytes(form.Encoding.DER, form.PrivateFormat.PKCS8, form.NoEncryption()),
        key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption()),
    ):
        (tmp_path / "key").write_bytes(content)
        with pytest.raises(ParameterError, match="no shared secret"):
            read_key(tmp_path / "key")
        with pytest.raises(ParameterError, match="no private or public key"):
            shared_signature({}, content)


def test_a_private_key_is_for_its_owner_alone_and_never_written_over(folder, tmp_path):
    assert stat.S_IMODE((folder / "own.key").stat().st_mode) == 0o600
    before = (folder / "own.key").read_bytes()
    for private, public in (("own.key", "new.pub"), ("new.key", "own.pub")):
        with pytest.raises(ParameterError, match="there already"):
            make_keys(folder / private, folder / public)
    assert (folder / "own.key").read_bytes() == before
    assert not (folder / "new.key").exists()
    (tmp_path / "link.key").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError):  # noqa: PT011  (its text is the system's)
        make_keys(tmp_path / "link.key", tmp_path / "link.pub")
    assert not (tmp_path / "nowhere").exists()


def test_the_command_line_makes_keys_signs_and_verifies(folder, tmp_path, monkeypatch):
    from click.testing import CliRunner

    def run(*arguments):
        result = CliRunner().invoke(main, list(arguments))
        return result.exit_code, result.output

    monkeypatch.chdir(tmp_path)
    Path("release.json").write_text((folder / "plain.json").read_text())
    assert run("keys", "mine") == (0, "Wrote mine, which stays secret, and mine.pub, to be published.\n")
    assert run("keys", "mine")[0] == 2
    assert run("verify", "release.json", "--public-key", "mine.pub")[0] == 1
    assert run("sign", "release.json", "--private-key", "mine") == (0, "Signed release.json.\n")
    code, text = run("verify", "release.json", "--public-key", "mine.pub")
    assert (code, text.splitlines()[-1]) == (0, "The arithmetic holds; authenticated.")
    assert run("verify", "release.json", "--public-key", str(folder / "own.pub"))[0] == 1
    assert run("sign", "release.json")[0] == run("sign", "release.json", "--key", "mine")[0] == 2
    assert run("sign", "release.json", "--private-key", "mine", "--key", str(folder / "secret"))[0] == 2


def test_without_the_package_the_error_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    with pytest.raises(ParameterError, match=r"spinney-dp\[sign\]"):
        verify(folder / "public.json", public_key=folder / "own.pub")
    assert verify(folder / "shared.json", key=folder / "secret").authenticated
