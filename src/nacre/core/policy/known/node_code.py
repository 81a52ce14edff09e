"""JavaScript in a line (node -e): does it only compute, read and print?

Rule: an allow-list of tokens. What is called is one of known names and follows a name, never the
result of something; no name is one by which node writes, runs or sends; no text is put together to
become a name; a module is one of few, and of fs only what reads.
"""

import re

_LONGEST = 2000  # characters
_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*)
    |(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<number>\d[\d.]*(?:e\d+)?n?)
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<sign>=>|===|!==|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\.\.\.|\+\+|--|\+=|-=|\*\*|[-+*/%<>=!?:.,;(){}\[\]])""",
    re.VERBOSE,
)
_CALLED = frozenset(
    (
        *("log", "error", "info", "table", "dir", "stringify", "parse", "keys", "values"),
        *("entries", "map", "filter", "join", "slice", "split", "sort", "includes", "forEach"),
        *("toString", "toISOString", "now", "trim", "toFixed", "padStart", "padEnd", "indexOf"),
        *("startsWith", "endsWith", "toUpperCase", "toLowerCase", "reduce", "some", "every"),
        *("find", "flat", "flatMap", "concat", "push", "reverse", "fromEntries", "from", "max"),
        *("min", "round", "floor", "ceil", "abs", "sqrt", "pow", "random", "isArray", "Number"),
        *("String", "Boolean", "parseInt", "parseFloat", "Date", "Set", "Map", "Array", "replace"),
        *("replaceAll", "substring", "charAt", "charCodeAt", "repeat", "fill", "at", "has", "get"),
        *("add", "uptime", "memoryUsage", "cpus", "platform", "arch", "totalmem", "freemem"),
        *("hostname", "release", "type", "basename", "dirname", "extname", "cwd", "if", "for"),
        *(
            "isInteger",
            "getTime",
            "toLocaleString",
            "localeCompare",
            "inspect",
            "resolve",
            "relative",
        ),
        *("normalize", "while", "readFileSync", "existsSync", "readdirSync", "statSync", "require"),
    )
)
_KEYWORDS = frozenset(("const", "let", "var", "of", "in", "return", "case", "typeof"))
_FILES = frozenset(("readFileSync", "existsSync", "readdirSync", "statSync"))
_MODULES = frozenset(("os", "path", "util", "url", "fs", "node:os", "node:path", "node:fs"))
_OWN = re.compile(r"(?:\./[\w./-]+|@?[a-z][\w./-]*/package)\.json")
# How names begin by which node writes, runs, sends or ends something, or gets at such a name.
_WRITING = re.compile(
    r"_|\$|l?(?:rm|unlink|write|append|truncate|chmod|chown|utimes|link|symlink)|exec|spawn|fork"
    r"|kill|rename|copy|cp(?!us)|mkdir|mkdtemp|open|create|fetch|eval|Function|function|constructor"
    r"|prototype|bind|exit|abort|reallyExit|dlopen|module|mainModule|import|global|send|connect"
    r"|set[ug]|sete|setg|initgroups|getBuiltin|apply|Reflect|Proxy|async|await|yield|class|request"
    r"|Worker|Web|chdir|umask|define|setPrototype|set[TI]|queue|nextTick|emit|listen|once"
    r"|(?:call|caller|callee|this|with|on|delete|void|Symbol)$"
)
_HERE = re.compile(r"(?!/)(?!.*\.\.)[\w./@ -]+")


def only_prints(code: str) -> bool:
    """Return whether code computes, reads and prints, and nothing else."""
    if len(code) > _LONGEST:
        return False
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(code):
        found = _TOKEN.match(code, at)
        if found is None:  # a template, a regular expression, an escape
            return False
        at = found.end()
        if found.lastgroup != "blank":
            tokens.append((found.lastgroup or "", found.group(0)))
    if any(text == "[" and _looks_up(tokens, at) for at, (_, text) in enumerate(tokens)):
        # By a variable's text any attribute is found: then there is nothing that has bad ones.
        modules = [tokens[at + 2][1] for at, one in enumerate(tokens[:-2]) if one[1] == "require"]
        if ("name", "process") in tokens or not all(_OWN.fullmatch(one[1:-1]) for one in modules):
            return False
    return all(_is_harmless(tokens, index) for index in range(len(tokens)))


def _looks_up(tokens: list[tuple[str, str]], index: int) -> bool:
    """Return whether a [ has a variable in it: x[key]."""
    kind, before = tokens[index - 1]
    follows = (kind == "name" and before not in _KEYWORDS) or before in (")", "]", "?.")
    return index > 0 and follows and index + 1 < len(tokens) and tokens[index + 1][0] == "name"


def _is_harmless(tokens: list[tuple[str, str]], index: int) -> bool:
    kind, text = tokens[index]
    before = tokens[index - 1] if index else ("", "")
    after = tokens[index + 1] if index + 1 < len(tokens) else ("", "")
    if kind == "name":
        return _is_plain(tokens, index)
    if kind == "string":
        return "\\u" not in text and "\\x" not in text
    if text == "(":
        # A call follows a name; a group follows a sign.
        return before[0] != "string" and before[1] not in (")", "]", "}", "?.")
    if text == "[" and (
        (before[0] == "name" and before[1] not in _KEYWORDS) or before[1] in (")", "]", "?.")
    ):
        # What is looked up is a number or a text that stands there, of a value that has one.
        closes = tokens[index + 2][1] if index + 2 < len(tokens) else ""
        return after[0] in ("number", "string", "name") and closes == "]"
    return True


def _is_plain(tokens: list[tuple[str, str]], index: int) -> bool:
    text = tokens[index][1]
    after = [one[1] for one in tokens[index + 1 : index + 5]] + [""] * 4
    before = tokens[index - 1][1] if index else ""
    if _WRITING.match(text):
        told = [one[1] for one in tokens[max(0, index - 4) : index]]
        return text == "write" and told[-4:] == ["process", ".", "stdout", "."]
    if text == "process":
        return after[0] in (".", "?.")
    if before in (".", "?.") and after[0] in ("=", "+=", "-=", "++", "--"):
        return False  # an attribute is set
    if text == "require":
        return after[0] == "(" and after[2] == ")" and _is_known_module(tokens, index)
    if text == "fs":
        return _is_reading(tokens, index)
    if text in _FILES:
        given = after[1].strip("'\"")
        named = before == "." and after[0] == "(" and after[1][:1] in ("'", '"')
        return named and bool(_HERE.fullmatch(given))
    if after[0] == "(":
        return text in _CALLED or text in ("of", "in", "return", "catch", "typeof")
    return True


def _is_known_module(tokens: list[tuple[str, str]], index: int) -> bool:
    name = tokens[index + 2][1].strip("'\"") if index + 2 < len(tokens) else ""
    if tokens[index + 2][0] != "string":
        return False
    if name.endswith("fs"):
        # const fs = require('fs'), or what reads taken from it at once.
        after = [one[1] for one in tokens[index + 4 : index + 6]]
        named = [one[1] for one in tokens[max(0, index - 2) : index]] == ["fs", "="]
        if after[:1] != ["."]:
            return named
        return len(after) > 1 and after[1] in _FILES
    return name in _MODULES or (bool(_OWN.fullmatch(name)) and ".." not in name)


def _is_reading(tokens: list[tuple[str, str]], index: int) -> bool:
    after = [one[1] for one in tokens[index + 1 : index + 3]]
    if after == ["=", "require"]:
        return True
    return after[:1] == ["."] and len(after) > 1 and after[1] in _FILES
