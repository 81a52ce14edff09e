"""What hosts and servers prove themselves with: certificates, NKeys and credentials, as made by
openssl, nk and nsc.
"""

import base64
import hashlib
import ipaddress
import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nkeys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_HOUR = timedelta(hours=1)


class Authority:
    """Signs certificates; its own is `<name>.pem`."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = self._begun(self._name, self._key, _HOUR).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        made = made.add_extension(
            x509.KeyUsage(
                key_cert_sign=True, crl_sign=True, digital_signature=True,
                content_commitment=False, key_encipherment=False, data_encipherment=False,
                key_agreement=False, encipher_only=False, decipher_only=False,
            ),
            critical=True,
        )  # fmt: skip
        self.file = self._write(f"{name}.pem", made.sign(self._key, hashes.SHA256()))

    def issue(self, name: str, *, left: timedelta = _HOUR) -> tuple[str, str]:
        """Return the files of a certificate and its key; `left` is how long it still holds."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        made = self._begun(subject, key, left).add_extension(here, critical=False)
        cert = self._write(f"{name}.pem", made.sign(self._key, hashes.SHA256()))
        secret = self._folder / f"{name}.key"
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return cert, str(secret)

    def _begun(self, subject: x509.Name, key: Any, left: timedelta) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 2 * _HOUR)
            .not_valid_after(now + left)
        )

    def _write(self, name: str, made: x509.Certificate) -> str:
        path = self._folder / name
        path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        return str(path)


def new_nkey(kind: int = nkeys.PREFIX_BYTE_USER) -> tuple[str, str]:
    """Return an NKey's seed and its public half."""
    seed = nkeys.encode_seed(os.urandom(32), kind)
    return seed.decode(), nkeys.from_seed(bytearray(seed)).public_key.decode()


def signed_claims(
    seed: str, subject: str, name: str, nats: dict[str, Any], left: float | None = None
) -> str:
    """Return a JWT as nsc makes it: claims of an operator, an account or a user.

    `left` is how many seconds it holds.
    """
    pair = nkeys.from_seed(bytearray(seed.encode()))
    claims = {
        "iat": int(time.time()),
        "iss": pair.public_key.decode(),
        "name": name,
        "nats": {"version": 2, **nats},
        "sub": subject,
        **({} if left is None else {"exp": int(time.time() + left)}),
    }
    digest = hashlib.new("sha512_256", json.dumps(claims).encode()).digest()
    claims["jti"] = base64.b32encode(digest).decode().rstrip("=")
    head = _part({"typ": "JWT", "alg": "ed25519-nkey"})
    said = f"{head}.{_part(claims)}"
    signature = base64.urlsafe_b64encode(pair.sign(said.encode())).decode().rstrip("=")
    return f"{said}.{signature}"


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


class Operator:
    """An operator with one account, whose users come with credentials files."""

    def __init__(self) -> None:
        seed, public = new_nkey(nkeys.PREFIX_BYTE_OPERATOR)
        self._account_seed, self._account = new_nkey(nkeys.PREFIX_BYTE_ACCOUNT)
        _, system = new_nkey(nkeys.PREFIX_BYTE_ACCOUNT)
        limits = dict.fromkeys(
            ("subs", "conn", "leaf", "imports", "exports", "data", "payload"), -1
        ) | {"wildcards": True}
        stored = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
        account = signed_claims(
            seed, self._account, "hosts", {"type": "account", "limits": limits | stored}
        )
        about = signed_claims(seed, system, "SYS", {"type": "account", "limits": limits})
        operator = signed_claims(
            seed, public, "team", {"type": "operator", "system_account": system}
        )
        self.config = (
            f"operator: {operator}\nsystem_account: {system}\nresolver: MEMORY\n"
            f"resolver_preload: {{ {self._account}: {account}, {system}: {about} }}\n"
        )

    def credentials(self, host: str, left: float | None = None) -> str:
        """Return the text of a credentials file for a host; `left`: seconds that it holds."""
        seed, public = new_nkey()
        limits = {"subs": -1, "data": -1, "payload": -1}
        claims = {"type": "user", **limits}
        token = signed_claims(self._account_seed, public, host, claims, left)
        return (
            f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
