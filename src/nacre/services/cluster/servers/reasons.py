"""Why a host cannot reach its cluster, in the words of its settings.

Rule: each reason names the setting or the server that it is about, and what to do.
"""

import os
import ssl
from datetime import UTC, datetime

from cryptography import x509

from nacre.settings.table import Settings

_FILES = ("cluster_credentials", "cluster_nkey", "cluster_tls_ca", "cluster_tls_cert")
_EXPIRED, _NOT_YET = 10, 9  # OpenSSL's X509_V_ERR_CERT_HAS_EXPIRED, …_NOT_YET_VALID
_OTHER_NAME = (62, 64)  # X509_V_ERR_HOSTNAME_MISMATCH, …_IP_ADDRESS_MISMATCH


def check_files(settings: Settings) -> None:
    """Raise OSError for a file that is missing or unreadable, and a certificate that has ended."""
    for name in (*_FILES, "cluster_tls_key"):
        path = getattr(settings, name)
        if not path:
            continue
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise OSError(f"{name}: {path} cannot be read ({error.strerror})") from error
    if settings.cluster_tls_key and not settings.cluster_tls_cert:
        raise OSError("cluster_tls_key needs cluster_tls_cert, the certificate that it is for")
    if settings.cluster_tls_cert:
        _check_certificate(settings.cluster_tls_cert)


def _check_certificate(path: str) -> None:
    with open(path, "rb") as file:
        try:
            [made, *_] = x509.load_pem_x509_certificates(file.read())
        except ValueError as error:
            raise OSError(f"cluster_tls_cert: {path} is no certificate in PEM") from error
    ended, begins = made.not_valid_after_utc, made.not_valid_before_utc
    now = datetime.now(UTC)
    if ended < now:
        raise OSError(f"cluster_tls_cert: {path} expired on {ended:%Y-%m-%d %H:%M} UTC: renew it")
    if begins > now:
        raise OSError(
            f"cluster_tls_cert: {path} holds only from {begins:%Y-%m-%d %H:%M} UTC on: compare the "
            "clocks"
        )


def tls_context(settings: Settings) -> ssl.SSLContext:
    """Raises OSError for files that do not fit."""
    try:
        context = ssl.create_default_context(cafile=settings.cluster_tls_ca or None)
    except ssl.SSLError as error:
        raise OSError(f"cluster_tls_ca: {settings.cluster_tls_ca} has no certificate") from error
    if settings.cluster_tls_cert:
        try:
            context.load_cert_chain(settings.cluster_tls_cert, settings.cluster_tls_key or None)
        except ssl.SSLError as error:
            raise OSError(
                "cluster_tls_key is not the key of the certificate in cluster_tls_cert"
            ) from error
    return context


def refused(settings: Settings) -> str:
    """Say that the servers do not let this host in."""
    given = [name for name in _FILES if getattr(settings, name) and name != "cluster_tls_ca"]
    if not given:
        return (
            "the servers ask who this host is: set cluster_nkey or cluster_credentials, or a user "
            "in the address"
        )
    return (
        f"the servers refuse this host's credentials ({', '.join(given)}): compare them with the "
        "users in the servers' configuration"
    )


def reason(error: BaseException, settings: Settings) -> str:
    """Return why a connection failed."""
    servers = settings.cluster
    if isinstance(error, ssl.SSLCertVerificationError):
        return _untrusted(error, settings)
    if isinstance(error, ssl.SSLError):
        told = (error.reason or str(error)).replace("_", " ").lower()
        return f"the servers refuse TLS with this host ({told}): check cluster_tls_cert"
    if _was_cut(error) and (settings.cluster_tls_ca or "tls://" in servers):
        # In TLS 1.3 a server judges the certificate after the handshake: it may hang up first.
        return (
            "the servers end the connection after the handshake: check cluster_tls_cert, which "
            "must be signed by an authority that they know"
        )
    if isinstance(error, TimeoutError):
        return f"no server answers in time at {servers}"
    if isinstance(error, OSError) and error.errno is not None:
        return f"no server answers at {servers} ({os.strerror(error.errno).lower()})"
    return str(error) or type(error).__name__


def _was_cut(error: BaseException) -> bool:
    cut = isinstance(error, ConnectionResetError | BrokenPipeError | EOFError)
    return cut or any(word in str(error).lower() for word in ("connection lost", "eof"))


def _untrusted(error: ssl.SSLCertVerificationError, settings: Settings) -> str:
    if error.verify_code in (_EXPIRED, _NOT_YET):
        return f"the servers' certificate does not hold now ({error.verify_message}): renew it"
    if error.verify_code in _OTHER_NAME:
        return (
            "the servers' certificate is for another address than the setting cluster names "
            f"({error.verify_message})"
        )
    what = (
        f"by {settings.cluster_tls_ca} (cluster_tls_ca)"
        if settings.cluster_tls_ca
        else "by an authority that this machine trusts: set cluster_tls_ca"
    )
    return f"the servers' certificate is not signed {what} ({error.verify_message})"
