"""Scripts that read and write a file in any shell, and how to read what they print.

Rule 1: each is one command, `sh -c SCRIPT nacre ARGUMENTS`: the shell at the prompt may be bash,
zsh, fish or busybox, sh is the same everywhere (POSIX, and base64 or openssl).
Rule 2: a file is written beside its place and then moved there, so nobody sees half of it.
Rule 3: what became of it is the last line that a script prints: a word, and numbers.
"""

import shlex
from typing import NamedTuple

# The file, by its argument; a link is followed, so that the link stays.
_FILE = 'case $1 in "~/"*) f=$HOME/${1#"~/"};; *) f=$1;; esac; '
_SUM = (
    "s() { (sha256sum <$1 || shasum -a 256 <$1 || openssl dgst -sha256 -r <$1) 2>/dev/null "
    "| cut -c1-64; }; "
).replace("<$1", '<"$1"')
_MODE = 'm() { stat -c %a "$1" 2>/dev/null || stat -f %Lp "$1" 2>/dev/null; }; '
_PLACE = (
    'l=$(readlink -f -- "$f" 2>/dev/null); [ -n "$l" ] && f=$l; '
    'd=$(dirname -- "$f"); t=$d/.nacre-$2; '
)

_LOOK = (
    _FILE
    + _SUM
    + _MODE
    + 'if [ -d "$f" ]; then echo folder; elif [ ! -e "$f" ]; then echo none; '
    + 'elif [ ! -f "$f" ]; then echo special; elif [ ! -r "$f" ]; then echo denied; '
    + 'else n=$(wc -c <"$f"); echo file $n "$(m "$f")" "$(s "$f")"; fi'
)
_READ = _FILE + 'tail -c "+$2" -- "$f" | head -c "$3" | (base64 || openssl base64) 2>/dev/null'
_BEGIN = (
    _FILE
    + _PLACE
    + 'if [ -d "$f" ]; then echo folder; elif [ ! -d "$d" ]; then echo nowhere; '
    + 'elif [ -e "$f" ] && [ ! -f "$f" ]; then echo special; '
    + 'elif [ -e "$f" ] && [ -n "$3" ]; then echo exists; '
    + "elif ! command -v base64 >/dev/null 2>&1 && ! command -v openssl >/dev/null 2>&1; "
    + 'then echo untold; elif (umask 077; : >"$t") 2>/dev/null; then echo begun; '
    + "else echo denied; fi"
)
_APPEND = (
    _FILE
    + _PLACE
    + 'if printf %s "$3" | (base64 -d || openssl base64 -d -A) 2>/dev/null >>"$t"; '
    + "then echo added; else echo denied; fi"
)
# Arguments: the file, the token, the mode, the size, the checksum, what the file must be before.
_FINISH = (
    _FILE
    + _PLACE
    + _SUM
    + _MODE
    + 'end() { rm -f -- "$t"; echo "$@"; exit; }; '
    + 'n=$(wc -c <"$t"); [ "$n" -eq "$4" ] || end short $n; '
    + 'h=$(s "$t"); [ -z "$h" ] || [ "$h" = "$5" ] || end changed; '
    + 'if [ -n "$6" ]; then [ -n "$h" ] || end unknown; [ "$(s "$f")" = "$6" ] || end other; fi; '
    + 'if [ -n "$3" ]; then p=$3; elif [ -e "$f" ]; then p=$(m "$f"); '
    + "else p=$(printf %o $((0666 & ~$(umask)))); fi; "
    + 'if [ -e "$f" ]; then chown "$(stat -c %u:%g "$f" 2>/dev/null)" "$t" 2>/dev/null; fi; '
    + '[ -z "$p" ] || chmod "$p" "$t" || end denied; '
    + 'mv -f -- "$t" "$f" 2>/dev/null || end denied; echo done "$p" "$h"'
)
_DROP = _FILE + _PLACE + 'rm -f -- "$t"; echo dropped'


class FarFile(NamedTuple):
    """What a script tells of a file."""

    size: int
    mode: str | None
    sha256: str | None


def _script(text: str, *arguments: str) -> str:
    return " ".join(["sh", "-c", shlex.quote(text), "nacre", *map(shlex.quote, arguments)])


def look_at(path: str) -> str:
    return _script(_LOOK, path)


def read_part(path: str, offset: int, size: int) -> str:
    return _script(_READ, path, str(offset + 1), str(size))


def begin_writing(path: str, token: str, *, overwrite: bool) -> str:
    return _script(_BEGIN, path, token, "" if overwrite else "keep")


def append(path: str, token: str, data: str) -> str:
    return _script(_APPEND, path, token, data)


def finish_writing(
    path: str, token: str, mode: str | None, size: int, sha256: str, before: str | None
) -> str:
    return _script(_FINISH, path, token, mode or "", str(size), sha256, before or "")


def drop(path: str, token: str) -> str:
    return _script(_DROP, path, token)


def last_words(output: str) -> list[str]:
    """Return the words of the last line that a script has printed."""
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].split() if lines else []


def far_file(words: list[str]) -> FarFile | None:
    """Return what `look_at` told of a file; None for what it could not."""
    if words[:1] != ["file"] or len(words) < 2 or not words[1].isdigit():
        return None
    rest = words[2:]
    mode = next((word for word in rest if len(word) < 5 and word.isdigit()), None)
    sha256 = next((word for word in rest if len(word) == 64), None)
    return FarFile(int(words[1]), mode, sha256)
