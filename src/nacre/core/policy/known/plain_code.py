"""Sources that a line writes and then builds or tests: does anything in them reach beyond memory?

Rule: whoever wrote a harmful program had to name what it does. So a source is plain only if no word
in it, nor a part of one, is called as what deletes, writes, starts, sends, asks for variables or
makes code from text is called in any language; and if it is a source by its ending, not what says
how to build or test.
"""

import re

_ENDINGS = (
    *(".py", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".go", ".rs", ".java", ".kt", ".scala", ".cs"),
    *(".c", ".h", ".cc", ".cpp", ".hpp", ".rb", ".php", ".ex", ".exs", ".swift", ".dart", ".css"),
    *(
        ".hs",
        ".ml",
        ".elm",
        ".vue",
        ".svelte",
        ".html",
        ".md",
        ".txt",
        ".csv",
        ".sql",
        ".scss",
        ".graphql",
    ),
)
# They say how the others are built or tested, or are read at each start.
_STEERS = re.compile(
    r"(?i)config|plugin|conftest|setup|build|mix\.exs|package|fixture|hook|rake|gulp|grunt|gemfile"
    r"|__init__|sitecustomize|settings|manage|global|tasks?\b|dune|project|workspace|\.d\.ts|spec_helper"
    r"|test_helper|cmake|makefile|eslint|prettier|rules?\b|package\.swift|bootstrap|autoload|vite"
)
_REACHES = re.compile(
    r"(?i)remove|delete|unlink|rmtree|rmdir|rm_|\brm\b|truncate|rename|move|write|dump|save|mkdir|touch"
    r"|chmod|chown|symlink|link\(|copy|shutil|pathlib|path\b|file|dir\b|\bfs\b|\bos\b|\bio\b|\bsys\b|\bopen"
    r"|exec|system|spawn|popen|process|subprocess|child|command|shell|bash|\bsh\b|\bcmd|fork|signal|kill"
    r"|eval|compile\(|import_|__\w+__|getattr|setattr|globals|reflect|invoke|load|require\(\s*[^\"'\s]"
    r"|include_|ctypes|\bffi|unsafe|\basm\b|dlopen|pickle|marshal|base64|codecs|fromhex|unhex|rot13|chr\(|charcode|\\x|\\u00"
    r"|http|fetch|request|socket|connect|\bnet\b|url|curl|wget|client|server|listen|send|mail|ftp|ssh"
    r"|environ|\benv\b|getenv|secret|token|passw|credential|\.aws|\bkey\b|home\b|argv|runtime|thread"
    r"|globalthis|\bnew function\b|\bfunction\([\"'`]|constructor\s*[.\[(]\s*[\"'`c]"
    r"|node:|deno\b|bun\b|macro|proc_|build\.rs|cgo|go:generate|go:embed|linkname|pragma|plugin|%x|drop\s"
)
_BACKTICKS = (".rb", ".php", ".ex", ".exs")


def is_plain_source(path: str, text: str) -> bool:
    """Return whether what is written to this path may be built and tested without a look at it."""
    if not path.endswith(_ENDINGS) or _STEERS.search(path.rpartition("/")[2]):
        return False
    if path.endswith(_BACKTICKS) and "`" in text:
        return False
    return not _REACHES.search(text)
