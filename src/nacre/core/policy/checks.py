"""Tests of words that no pattern can say: the small languages of sed and awk, and their like.

Rule: a test says yes only to what it knows.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from nacre.core.policy.known.awk import only_prints
from nacre.core.policy.known.builds import (
    elsewhere,
    loads_from_elsewhere,
    packages_of_scratch,
    repository_names,
    settings,
)
from nacre.core.policy.known.destroying import code_destroys
from nacre.core.policy.known.far import remote_line
from nacre.core.policy.known.one_liners import (
    julia_packages,
    mongo_reads,
    perl_edits,
    perl_files,
    perl_reads,
)
from nacre.core.policy.known.sed import empties, sed_commands
from nacre.core.policy.known.snippets import node_prints, python_prints
from nacre.core.policy.known.task_names import any_task, first_task
from nacre.core.policy.programs.expressions import only_computes
from nacre.core.policy.programs.options import operands
from nacre.core.policy.words import Word

Check = Callable[[Sequence[Word]], bool]

# sed's options: plain ones, those before a script, and those that edit the file itself.
_SED_PLAIN = re.compile(
    r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data|separate|unbuffered|posix|sandbox)"
)
_SED_SCRIPT = re.compile(r"-[nErsuz]*e|--expression")
_SED_EDITS = re.compile(r"-[nErsuz]*i(?:\.\w+)?|--in-place(?:=\.\w+)?")
_SED_QUIET = re.compile(r"-[A-Za-z]*n|--quiet|--silent")
_TAKES_NUMBER = re.compile(
    r"-[A-Za-z]*[ABCmd]|--(?:max-count|context|after-context|before-context)"
)
_TAR_LETTERS = re.compile(r"[cxtruzjJvfkpOmhlaZ]+")
_TAR_OPTIONS = (
    *("-cxtruzjJvkpOmhlaZ", "-f=", "-C=", "-X=", "--exclude=", "--strip-components=", "--file="),
    *("--directory=", "--gzip", "--xz", "--zstd", "--bzip2", "--extract", "--create", "--list"),
    *(
        "--verbose",
        "--keep-old-files",
        "--exclude-vcs",
        "--no-same-owner",
        "--wildcards",
        "--sort=",
    ),
    *("--mtime=", "--owner=", "--group=", "--numeric-owner", "--auto-compress", "--append"),
)
_ADDRESSED = re.compile(r"\w+:/|(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/?]|$)")
_LOCAL = re.compile(r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/?][^@\s]*)?")
# What an address asks a server to do: Elasticsearch's _delete_by_query, an actuator's shutdown.
_DESTROYS = re.compile(
    r"^(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\])\S*[/_](?:delete|drop|purge|flush|shutdown"
    r"|destroy|truncate|wipe|terminate|close|kill|exec)(?![A-Za-z])"
)
_QUERY = re.compile(
    r"\s*(?:select|show|explain|describe|desc)\b"
    r"(?!.*\b(?:into|load_extension|writefile|readfile|edit|pg_(?!database|tables|stat_|indexes|class|namespace|size_pretty|total_relation|attribute|relation_size|constraint|views|roles|settings|locks|catalog)\w+|lo_\w+|dblink\w*|delete|drop"
    r"|update|insert|nextval|setval|sleep|sys_\w+|load_file|analyze)\b)[^;\\`]*;?\s*"
    r"|pragma \w+(?:\(\w+\))?;?"
    r"|\.(?:tables|schema|databases|indexes|headers)(?: [\w ]+)?|\\d[a-z+]*(?: [\w.]+)?|\\l",
    re.IGNORECASE | re.DOTALL,
)
_HOST_OPTION = re.compile(r"--host=|-h(?=[\w\[/.])")
_ELSEWHERE = re.compile(r"(?:^|\s)(?:service|host(?:addr)?)=(?!localhost\b|127\.0\.0\.1\b|/)")
_DATABASE = re.compile(r"\w+://(?:[^@/]*@)?([^/:?]*)")
_NEAR = re.compile(r"[A-Za-z0-9_-]*|127\.0\.0\.1|\[?::1\]?|/[\w./-]*")
_WEB = re.compile(r"(?:https?://|localhost|127\.0\.0\.1)[^@\s]*")
_AWK_FLAGS = re.compile(r"-F.*|-v\w+=.*|--field-separator=.*|--assign=\w+=.*|--csv|--posix")


class SedWords(NamedTuple):
    """The words of a sed, by what they are."""

    script: str
    files: list[Word]
    in_place: bool
    quiet: bool


def _sed_words(words: Sequence[Word]) -> SedWords | None:
    scripts: list[str] = []
    files: list[Word] = []
    in_place = quiet = False
    index = 0
    while index < len(words):
        word = words[index]
        text = word.text
        index += 1
        if text is None:
            if word.may_be_option or not scripts:
                return None
            files.append(word)
        elif _SED_SCRIPT.fullmatch(text):
            if index >= len(words) or words[index].text is None:
                return None
            scripts.append(words[index].text or "")
            index += 1
        elif text.startswith("--expression="):
            scripts.append(text.partition("=")[2])
        elif text.startswith("-") and len(text) > 1:
            edits = bool(_SED_EDITS.fullmatch(text))
            if not edits and not _SED_PLAIN.fullmatch(text):
                return None
            in_place = in_place or edits
        elif scripts:
            files.append(word)
        else:
            scripts.append(text)
        quiet = quiet or bool(_SED_QUIET.match(text or ""))
    # sed joins its expressions like lines, so one may go on in the next.
    return SedWords("\n".join(scripts), files, in_place, quiet) if scripts else None


def _sed(words: Sequence[Word]) -> bool:
    found = _sed_words(words)
    if found is None:
        return False
    commands = sed_commands(found.script)
    if commands is None:
        return False
    return not (found.in_place and empties(commands, quiet=found.quiet))


def _sed_files(words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    found = _sed_words(words)
    return (words, True) if found is None else (found.files, found.in_place)


def _awk_program(words: Sequence[Word]) -> int | None:
    """Return where the program stands; None: nobody can tell, or it is in a file."""
    index = 0
    while index < len(words):
        text = words[index].text
        if text is None:
            return None
        if text in ("-F", "-v", "--field-separator", "--assign"):
            index += 2
        elif text == "--":
            return index + 1
        elif text.startswith("-") and len(text) > 1:
            if not _AWK_FLAGS.fullmatch(text):
                return None
            index += 1
        else:
            return index
    return None


def _awk(words: Sequence[Word]) -> bool:
    index = _awk_program(words)
    if index is None or index >= len(words) or words[index].globs:
        return False
    program = words[index].text
    # mawk and gawk end their options at the program, but one compiled otherwise may not.
    if any((word.text or "").startswith("-") or word.may_be_option for word in words[index + 1 :]):
        return False
    return program is not None and only_prints(program)


def _awk_files(words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    index = _awk_program(words)
    return (words if index is None else words[index + 1 :]), False


def _grep_files(words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    """Leave the pattern out: the first word that is no option, unless one has it."""
    texts = [word.text or "" for word in words]
    if any(text in ("-e", "-f", "--regexp") or text.startswith("--regexp=") for text in texts):
        return words, False
    for index, word in enumerate(words):
        text = word.text
        if text is not None and text.startswith("-") and len(text) > 1:
            if text == "-f" or text.startswith("--file"):
                return words, False
            continue
        if index and _TAKES_NUMBER.fullmatch(texts[index - 1]):
            continue
        return [*words[:index], *words[index + 1 :]], False
    return words, False


def _test(words: Sequence[Word]) -> bool:
    return all(word.text != "-v" for word in words)


def _no_script(words: Sequence[Word]) -> bool:
    """Only options, and one of them asks for the version or for help."""
    return len(words) == 1 and words[0].text in ("--version", "--help", "-V", "version", "help")


def _http(words: Sequence[Word]) -> bool:
    """It fetches from the web, and sends nothing but its address and headers."""
    return _asks_the_web(words, _WEB, ("GET", "HEAD", "OPTIONS"))


def _local_http(words: Sequence[Word]) -> bool:
    """It sends what stands in the line to a server on this machine."""
    if any((word.text or "").lstrip("-dF").startswith(("@", "<")) for word in words):
        return False
    # --data-urlencode NAME@FILE
    for index, word in enumerate(words):
        before = (words[index - 1].text or "") if index else ""
        glued = (word.text or "").startswith("--data-urlencode=")
        if (glued or before == "--data-urlencode") and "@" in (word.text or ""):
            return False
    if any("=@" in (word.text or "") or "=<" in (word.text or "") for word in words):
        return False
    if any(_DESTROYS.search(word.text or "") for word in words):
        return False
    return _asks_the_web(words, _LOCAL, ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH"))


def _asks_the_web(
    words: Sequence[Word], allowed: "re.Pattern[str]", methods: Sequence[str]
) -> bool:
    addresses = [word.text for word in words if word.text and _ADDRESSED.match(word.text)]
    texts = [word.text or "" for word in words]
    for index, text in enumerate(texts):
        if text in ("-X", "--request") and "".join(texts[index + 1 : index + 2]) not in methods:
            return False
        if re.match(r"-X.|--request=", text) and re.sub("-X|--request=", "", text) not in methods:
            return False
    return bool(addresses) and all(allowed.fullmatch(address) for address in addresses)


def _http_files(words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    """What stands behind -o is written."""
    written: list[Word] = []
    for index, word in enumerate(words):
        text = word.text or ""
        if re.fullmatch(r"-[A-Za-z#]*[oO]|--output|--output-document", text):
            written += words[index + 1 : index + 2]
        elif re.match(r"-[a-zA-Z]*[oO].|--output", text):
            written.append(Word(text.lstrip("-sSfLkqO").partition("=")[2] or text[2:], text))
        elif text in ("--remote-name", "-OL"):
            written.append(Word(".", "."))
    return written, bool(written)


def _wget_files(words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
    """Without -O it writes a file of the address's name."""
    written, writes = _http_files(words)
    if writes or any(word.text == "--spider" for word in words):
        return written, writes
    names = ((word.text or "").rstrip("/").rpartition("/")[2] for word in words[-1:])
    return [Word(name, name) for name in names if name], True


def _is_far(text: str | None, before: str | None) -> bool:
    """Return whether a word names a host elsewhere, who would get the password.

    A name without a dot is one of this network: a container's, a machine's.
    """
    if _ELSEWHERE.search(text or ""):
        return True
    glued = _HOST_OPTION.match(text or "")
    if glued is None and before not in ("-h", "--host"):
        address = _DATABASE.match(text or "")
        return address is not None and not _NEAR.fullmatch(address[1])
    host = (text or "")[glued.end() :] if glued else text or ""
    return bool(host) and not _NEAR.fullmatch(host)


def _near(words: Sequence[Word]) -> bool:
    """It asks a machine of its own network, and nobody else gets the password."""
    texts = [word.text for word in words]
    return not any(
        _is_far(text, texts[index - 1] if index else None) for index, text in enumerate(texts)
    )


def _sql(words: Sequence[Word]) -> bool:
    """It only asks a database of this machine or its network for what it holds."""
    texts = [word.text for word in words]
    if not _near(words):
        return False
    queries = [text for text in texts if text and (" " in text or text[0] in ".\\")]
    parts = [part for text in queries for part in text.split(";") if part.strip()]
    return bool(parts) and all(_QUERY.fullmatch(part) for part in parts) and None not in texts


def _tar(words: Sequence[Word]) -> bool:
    """Options that neither run nor delete, and no archive on another machine."""
    first = (words[0].text if words else None) or "-"
    if not first.startswith("-"):
        if not _TAR_LETTERS.fullmatch(first):
            return False
        words = words[1:]
    if operands(words, _TAR_OPTIONS) is None:
        return False
    return not any(":" in (word.text or word.lead) for word in words)


def _printf(words: Sequence[Word]) -> bool:
    """The format is known, so that it is no -v, which sets a variable."""
    texts = [word.text for word in words if word.text != "--"]
    return bool(texts) and texts[0] is not None and not texts[0].startswith("-")


# find's tests that leave most files out, and those that take all.
_NARROWING = re.compile(
    r"-(?:i?name|i?path|i?wholename|i?regex|newer\w*|empty|[acm]time|[acm]min|size|user|group|perm"
    r"|inum|links|samefile|uid|gid|nouser|nogroup|fstype)"
)


def is_unnarrowed(words: Sequence[Word]) -> bool:
    """Return whether find's words let it find all, as far as they are known."""
    for index, word in enumerate(words):
        if not _NARROWING.fullmatch(word.text or ""):
            continue
        negated = index and words[index - 1].text in ("!", "-not")
        value = words[index + 1].text if index + 1 < len(words) else ""
        takes_all = value is not None and value.strip("*.?/") == "" and value != ""
        if not negated and not takes_all:
            return False
    return True


def _mounts_and_deletes(words: Sequence[Word]) -> bool:
    """Return whether a container gets the machine's root, and its command deletes."""
    texts = [word.text or word.lead for word in words]
    mounts = any(
        re.match(r"(?:-v=?|--volume=)?/:|(?:--mount=)?\S*(?:src|source)=/(?:,|$)", text)
        for text in texts
    )
    return mounts and any(text == "rm" or re.search(r"\brm\s+-", text) for text in texts)


_PLUGIN = re.compile(r"-[qvsxlf]*p(.*)")


def _no_plugins(words: Sequence[Word]) -> bool:
    """Return whether -p of pytest only turns plugins off."""
    for index, word in enumerate(words):
        if (found := _PLUGIN.fullmatch(word.text or "")) is not None:
            after = words[index + 1].text if index + 1 < len(words) else None
            given = found[1] or after
            if given is None or not given.startswith("no:"):
                return False
    return True


_SCRATCH = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108  # to compare with


def _moves_away(words: Sequence[Word]) -> bool:
    """Return whether files of elsewhere are moved to where the system clears them away."""
    paths = [word.text or word.lead for word in words if not (word.text or "").startswith("-")]
    if len(paths) < 2 or not f"{paths[-1]}/".startswith(_SCRATCH):
        return False
    return not all(path.startswith(_SCRATCH) for path in paths[:-1])


CHECKS: Mapping[str, Check] = {
    "julia packages": julia_packages,
    "mongo reads": mongo_reads,
    "ruby prints": partial(only_computes, "ruby"),
    "php prints": partial(only_computes, "php"),
    "elixir prints": partial(only_computes, "elixir"),
    "r prints": partial(only_computes, "Rscript"),
    "perl reads": perl_reads,
    "moves away": _moves_away,
    "perl edits": perl_edits,
    "no plugins": _no_plugins,
    "unnarrowed": is_unnarrowed,
    "mounts and deletes": _mounts_and_deletes,
    "grep": lambda words: True,
    "printf": _printf,
    "settings": settings,
    "github names": repository_names,
    "code destroys": code_destroys,
    "elsewhere": elsewhere,
    "packages of scratch": packages_of_scratch,
    "program from elsewhere": loads_from_elsewhere,
    "risky task": first_task,
    "risky tasks": any_task,
    "sed": _sed,
    "awk": _awk,
    "tar": _tar,
    "test": _test,
    "version": _no_script,
    "http": _http,
    "wget": _http,
    "local http": _local_http,
    "sql": _sql,
    "near": _near,
    "python prints": python_prints,
    "node prints": node_prints,
    "far": lambda words: remote_line(words) is not None,
}

# Which words are paths, and whether they are written to; of other programs all words may be.
FILES: Mapping[str, Callable[[Sequence[Word]], tuple[Sequence[Word], bool]]] = {
    "sed": _sed_files,
    "awk": _awk_files,
    "grep": _grep_files,
    "perl reads": perl_files,
    "perl edits": perl_files,
    "http": _http_files,
    "wget": _wget_files,
    "local http": _http_files,
}
