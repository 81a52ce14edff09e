"""Keys and passwords in homes: where they lie, and lines that reach them without their names.

Rule: a pattern of the shell's stands for all that it may match, and who searches a folder for text
reads everything below it.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from nacre.core.policy.known.key_files import holds_keys
from nacre.core.policy.programs.copies import disguised_keys
from nacre.core.policy.words import Program, Word, has_glob

# Below a home. What only programs that sign in use; an agent has no business with it.
SECRET_NAMES = (
    *(".ssh", ".gnupg", ".aws", ".netrc", ".kube", ".docker", ".config/gh", ".config/gcloud"),
    *(".azure", ".pgpass", ".git-credentials", ".password-store", ".local/share/keyrings"),
    *(".npmrc", ".pypirc", ".my.cnf", ".vault-token", ".config/git/credentials", ".s3cfg"),
    *(".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".config/rclone"),
    *(".terraform.d/credentials.tfrc.json", ".claude/.credentials.json", ".codex/auth.json"),
    *(".terraformrc", ".m2/settings.xml", ".m2/settings-security.xml", ".composer/auth.json"),
    *(".gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".config/composer/auth.json"),
    *(
        ".config/containers/auth.json",
        ".config/hub",
        ".config/op",
        ".config/doctl",
        ".fly/config.yml",
    ),
    *(".config/hcloud", ".config/sops", ".config/solana/id.json", ".boto", ".databrickscfg"),
    *(".snowsql/config", ".bundle/config", ".huggingface/token", ".cache/huggingface/token"),
    *(
        ".kaggle/kaggle.json",
        ".config/ngrok",
        ".ngrok2",
        ".smbcredentials",
        ".vault_pass",
        ".mozilla",
    ),
    *(".config/google-chrome", ".config/chromium", "Library/Keychains", ".electrum", ".bitcoin"),
    *(".ethereum", ".config/pip/pip.conf", ".curlrc", ".wgetrc", ".dockercfg", ".config/helm"),
    *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history"),
    *(
        ".sqlite_history",
        ".node_repl_history",
        ".local/share/fish/fish_history",
        ".config/glab-cli",
    ),
)
# Whatever folder they are in.
_KEY_FILES = frozenset(
    (
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "master.key", ".git-credentials", ".netrc"),
        *(".pgpass", ".pypirc", ".htpasswd", ".vault-token", "kubeconfig", "terraform.tfstate"),
    )
)
_IN_CODE = re.compile(r"[\"'`/](\.env(?:\.[\w.]+)?)[\"'`]")
# They print what is in a file; of git those sub-commands.
SHOWING = frozenset(
    (
        *(
            "cat",
            "tac",
            "nl",
            "head",
            "tail",
            "less",
            "more",
            "most",
            "bat",
            "batcat",
            "zcat",
            "base64",
        ),
        *(
            "base32",
            "sort",
            "uniq",
            "paste",
            "jq",
            "yq",
            "strings",
            "xxd",
            "hexdump",
            "od",
            "hd",
            "rev",
        ),
        *(
            "fold",
            "fmt",
            "comm",
            "join",
            "tr",
            "diff",
            "colordiff",
            "sdiff",
            "column",
            "pr",
            "expand",
        ),
        *("grep", "egrep", "fgrep", "rg", "ag", "ack", "awk", "gawk", "mawk", "sed", "perl", "cmp"),
        *(
            "shuf",
            "look",
            "unexpand",
            "hexyl",
            "glow",
            "tee",
            "split",
            "iconv",
            "envsubst",
            "mapfile",
            "cut",
            "zgrep",
            "zdiff",
            "xzcat",
            "bzcat",
        ),
    )
)
_PRINTS = SHOWING | {"openssl"}
_COMPRESSING = frozenset(("gzip", "bzip2", "xz", "zstd", "pigz", "lz4", "brotli"))
_TO_OUTPUT = re.compile(r"-[A-Za-z0-9]*c[A-Za-z0-9]*|--(?:to-)?stdout")
# Of openssl: what prints a key, or may; a certificate, a request and a digest are public.
_KEYS_OF_OPENSSL = frozenset(
    ("rsa", "ec", "dsa", "pkey", "pkcs8", "pkcs12", "asn1parse", "enc", "base64", "storeutl")
)
_QUOTES = "\"'"
_GIT_SHOWING = frozenset(("show", "diff", "log", "blame", "cat-file", "grep", "annotate"))
_ONLY_THESE = re.compile(r"--include=|-g|--glob=|--iglob=")
_QUIET = re.compile(r"-[A-Za-z]*[qclL]|--(?:quiet|count|files-with(?:out)?-match(?:es)?)")
_RUNNING = frozenset(("python", "python3", "node", "ruby", "php", "bun", "deno"))
# A variable by whose name its value is one; not whether it is set (${X:+yes}), nor its length.
_SECRET_VALUE = re.compile(
    r"\$\{?[A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIAL)"
    r"[A-Z0-9_]*(?!\w|:?\+)"
)
_SECRET_NAME = re.compile(r"(?i)token|secret|passw|api_?key|\bkey|_key|credential|\baws")
_PRINTING = frozenset(("echo", "printf", "printenv"))
_ENVIRONMENT = frozenset(("env", "printenv", "set", "export", "declare", "history"))
_NAMES_FROM = {"xargs": ("-a", "--arg-file"), "file": ("-f", "--files-from")}
_CONTAINERS = frozenset(("docker", "docker-compose", "podman"))
_STORING = frozenset(("terraform", "tofu", "pulumi"))  # they keep passwords among what they know
_MASKING = frozenset(("cut", "sed", "awk", "wc"))
_ANYBODYS = ("/home/*", "/Users/*")
_SEARCHING = frozenset(("rg", "ag", "ack", "ugrep", "ast-grep", "sg"))
_GREPS = frozenset(("grep", "egrep", "fgrep", "zgrep", "diff"))
_LISTING = frozenset(("find", "fd", "fdfind"))
_HANDING_ON = frozenset(("find", "fd", "fdfind", "xargs", "parallel"))
_PATTERNED = (_SEARCHING | _GREPS | {"fd", "fdfind"}) - {"diff"}
_GIVEN = ("-e", "-f", "--regexp", "--file", "-p", "--pattern")  # the pattern is an option's value
_RECURSIVE = re.compile(r"-[A-Za-z0-9]*[rR].*|--(?:dereference-)?r[ecursiv]*")
_READING = frozenset(
    (
        *("cat", "tac", "nl", "head", "tail", "less", "more", "bat", "zcat", "cp", "base64"),
        *("sed", "awk", "gawk", "mawk", "cut", "sort", "uniq", "paste", "jq", "yq", "strings"),
        *("xxd", "hexdump", "od", "tee", "rev", "fold", "openssl", "comm", "join", "tr", "perl"),
        *_SEARCHING,
        *_GREPS,
    )
)


@lru_cache(maxsize=16)
def secret_places(home: str) -> tuple[tuple[str, ...], ...]:
    """Return the parts of the paths of all places with secrets; `*` is any name."""
    return tuple(
        tuple(f"{one}/{name}".strip("/").split("/"))
        for one in (home, *_ANYBODYS)
        for name in SECRET_NAMES
    )


def is_secret(path: str, home: str) -> bool:
    """Return whether a path, or a pattern of the shell's, may lead to a key or password."""
    if path.rpartition("/")[2] in _KEY_FILES:
        return True
    if "/." not in path and not has_glob(path):
        return False
    if path.endswith((".pub", "/known_hosts", "/.ssh/config")):
        return False
    parts = path.strip("/").split("/")
    return any(_fits(parts, place) for place in secret_places(home))


def names_secret(word: Word) -> bool:
    """Return whether a word of which not all is known ($X/.ssh/id_rsa) names such a place."""
    if word.text is not None:
        return False
    raw = f"{word.raw.rstrip(_QUOTES)}/"
    # Of a process: what its variables hold.
    return raw.endswith("/environ/") or any(f"/{name}/" in raw for name in SECRET_NAMES)


def holds_secrets(path: str, home: str) -> bool:
    """Return whether keys lie below this folder: it is a home, above one, or a part of one."""
    if path == "/":
        return True
    parts = path.strip("/").split("/")
    return any(
        len(parts) < len(place) and _fits(parts, place[: len(parts)])
        for place in secret_places(home)
    )


def _fits(parts: Sequence[str], place: Sequence[str]) -> bool:
    """Return whether a path may lead into a place, part by part."""
    for part, wanted in zip(parts, place, strict=False):
        if "**" in part:
            return True
        if part != wanted and wanted != "*" and not _matches(wanted, part):
            return False
    return len(parts) >= len(place)


def _matches(name: str, pattern: str) -> bool:
    """Return whether a pattern matches a name; a hidden one only by a dot of its own."""
    if name.startswith(".") and not pattern.startswith("."):
        return False
    return has_glob(pattern) and fnmatchcase(name, pattern)


def searched(programs: Sequence[Program]) -> Iterator[tuple[Program, Word]]:
    """Yield the folders of which a line reads all files, or whichever it finds, by who does."""
    handed_on = any(one.name in _READING and _is_handed_on(one) for one in programs)
    for program in programs:
        if _searches(program) or (program.name in _LISTING and handed_on):
            yield from ((program, word) for word in _places(program))


def _places(program: Program) -> Sequence[Word]:
    """Return the words that are no options; of a search without its pattern."""
    words = [word for word in program.arguments if not word.shown.startswith("-")]
    has_pattern = len(words) > 1 and program.name in _PATTERNED
    given = any(word.shown.startswith(_GIVEN) for word in program.arguments)
    return words[1:] if has_pattern and not given else words


def _searches(program: Program) -> bool:
    if program.name in _SEARCHING:
        return True
    return program.name in _GREPS and any(
        _RECURSIVE.fullmatch(word.shown) for word in program.arguments
    )


def _is_handed_on(program: Program) -> bool:
    """Return whether it reads files whose names another program has told it."""
    return bool(_HANDING_ON & set(program.via)) or any(
        word.text is None for word in program.arguments
    )


def is_key_file(word: Word) -> bool:
    """Return whether a file holds keys and passwords by its name, in whatever folder."""
    return holds_keys(word.text if word.text is not None else word.raw)


def _shown_files(program: Program) -> Iterator[str]:
    """Yield the files with keys and passwords of which a program prints what is in them."""
    words = program.arguments
    if program.name in _RUNNING:
        if any(word.text in ("json.tool", "base64", "zipfile", "tarfile") for word in words[:2]):
            yield from (word.shown for word in words if is_key_file(word))
        for word in words:
            if (found := _IN_CODE.search(word.shown)) is not None and holds_keys(found[1]):
                yield found[1]
        return
    git = program.name == "git" and any(word.text in _GIT_SHOWING for word in words[:3])
    if program.name in _COMPRESSING and any(_TO_OUTPUT.fullmatch(one.shown) for one in words):
        yield from (word.shown for word in words if is_key_file(word))
        return
    if not git and program.name not in _PRINTS:
        return
    if program.name == "openssl" and not _prints_key(words):
        return
    if program.name in _GREPS | _SEARCHING and any(_QUIET.fullmatch(one.shown) for one in words):
        return
    if program.name == "sed" and any(one.shown.startswith(("-i", "--in-place")) for one in words):
        return
    if program.name in _GREPS | _SEARCHING:
        # Of what it searches only such files: grep -r X . --include=.env
        given = (one.shown for one in words if _ONLY_THESE.match(one.shown))
        yield from (text for text in given if holds_keys(text.partition("=")[2] or text[2:]))
    places = _places(program)
    if program.name in _PATTERNED and len(places) == len(words) == 1:
        return  # the pattern
    for word in places:
        text = word.text if word.text is not None else word.raw
        if holds_keys(text.rpartition(":")[2] if git else text):
            yield text


def _prints_key(words: Sequence[Word]) -> bool:
    """Return whether openssl may print a private key that it is given."""
    texts = {word.text for word in words}
    if not texts & _KEYS_OF_OPENSSL or "-pubin" in texts:
        return False
    return "-text" in texts or not texts & {"-pubout", "-noout"}


def file_of_names(program: Program) -> Iterator[Word]:
    """Yield the files whose lines a program takes for words: xargs -a FILE, file -f FILE."""
    option = _NAMES_FROM.get(program.name)
    if option is None:
        return
    words = program.arguments
    for index, word in enumerate(words):
        text = word.text if word.text is not None else word.lead
        name, equals, value = text.partition("=")
        if name == option[1] and equals:
            yield word._replace(text=None if word.text is None else value, lead=value)
        elif text in option and index + 1 < len(words):
            yield words[index + 1]
        elif len(text) > 2 and text.startswith(option[0]):
            yield word._replace(text=None if word.text is None else text[2:], lead=text[2:])


def shows_secret(programs: Sequence[Program]) -> Iterator[tuple[Program, str]]:
    """Yield who prints the value of a variable that is a key or password by its name."""
    names = {program.name for program in programs}
    filtered = bool(names & _ENVIRONMENT) and not names & _MASKING
    handed_on = any(one.name in SHOWING and _is_handed_on(one) for one in programs)
    for program in programs:
        yield from ((program, text) for text in _shown_files(program))
        yield from ((program, text) for text in disguised_keys(program))
        if handed_on and program.name in _LISTING:
            yield from ((program, one.raw) for one in program.arguments if is_key_file(one))
        if (
            program.name in ("printenv", "env")
            and not program.arguments
            and _CONTAINERS & {*program.via}
        ):
            yield program, "its variables"
        named = (
            program.name == "printenv"
            or (program.name == "jq" and names & _STORING and "keys" not in program.argv())
            or (filtered and program.name in _GREPS)
        )
        prints = program.name in _PRINTING
        for word in program.arguments:
            value = prints and word.text is None and _SECRET_VALUE.search(word.raw)
            if value or (named and _SECRET_NAME.search(word.shown)):
                yield program, word.raw
