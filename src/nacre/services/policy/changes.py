"""What a call writes to a file, for who is asked about it.

Rule: an answer is bound to all of it, by its checksum, and a person sees as much as they can read.
"""

import hashlib

from nacre.core.operations.apps.files import EditFile, PutFile

_MOST_SHOWN = 2000  # characters of a text


def change_of(request: PutFile | EditFile) -> bytes:
    """Return what tells this change from every other one of the same file."""
    if isinstance(request, EditFile):
        parts: tuple[object, ...] = ("edit", request.old, request.new, request.count)
    else:
        parts = ("put", request.content, request.encoding, request.mode, request.overwrite)
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).digest()


def shown_change(request: PutFile | EditFile) -> str:
    """Return it in words."""
    if isinstance(request, EditFile):
        return f"# in place of:\n{_part(request.old)}\n# comes:\n{_part(request.new)}"
    mode = "" if request.mode is None else f", with the permissions {request.mode}"
    if request.encoding == "base64":
        told = hashlib.sha256(request.content.encode(errors="surrogatepass")).hexdigest()
        return f"# {len(request.content)} characters of base64 (their SHA-256: {told}){mode}"
    return f"# what it will hold{mode}:\n{_part(request.content)}"


def _part(text: str) -> str:
    left_out = len(text) - _MOST_SHOWN
    return text if left_out <= 0 else f"{text[:_MOST_SHOWN]}[… {left_out} characters left out …]"
