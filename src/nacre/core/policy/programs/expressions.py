"""Code on the command line of Ruby, PHP, Elixir and R that only computes and prints.

Rule: every name in it is one of a list of functions that touch nothing but their arguments, and
take no function by its name. What the list does not know is no proof: variables, files, requires.
"""

import re
from collections.abc import Sequence

from nacre.core.policy.words import Word

# Texts without code in them; numbers; names with their dots; signs. A % before a letter makes a
# text or a command of what follows in Ruby, a $ is a variable, a backtick runs a command.
_TOKEN = re.compile(
    r"\s+|\"(?:[^\"\\#$`{]|\\[nt\"\\])*\"|'[^'\\]*'|\d[\d_]*(?:\.\d+)?|\.\.\.?|\.?[A-Za-z_][\w.]*[?!]?"
    r"|%(?![A-Za-z(\[{<|/])|[(){}\[\],;+\-*/<>=|:]|&(?![A-Za-z:(&])"
)
_LOCAL = re.compile(r"[a-z]")  # what a block or a function calls its argument
_METHODS = frozenset(
    (
        *("sum", "sort", "reverse", "max", "min", "size", "length", "count", "first", "last"),
        *("inspect", "to_s", "to_i", "to_a", "to_f", "upcase", "downcase", "uniq", "join"),
        *("reduce", "map", "select", "reject", "round", "floor", "ceil", "abs", "even?", "odd?"),
        *("zip", "flatten", "tally", "group_by", "sort_by", "digits", "gcd", "lcm", "split"),
    )
)
_NAMES: dict[str, frozenset[str]] = {
    "ruby": _METHODS
    | {"puts", "p", "print", "Math.sqrt", "Time.now", "Dir.pwd", "RUBY_VERSION", "RUBY_PLATFORM"},
    "php": frozenset(
        (
            *("echo", "count", "strlen", "json_encode", "array_sum", "array_keys", "array_values"),
            *("implode", "explode", "range", "PHP_EOL", "PHP_VERSION", "phpversion", "print_r"),
            *("var_dump", "max", "min", "round", "floor", "ceil", "date", "time", "strtoupper"),
            *("strtolower", "sqrt", "intdiv", "number_format", "php_sapi_name", "PHP_OS"),
        )
    ),
    "elixir": frozenset(
        (
            *("IO.puts", "IO.inspect", "Enum.sum", "Enum.count", "Enum.sort", "Enum.reverse"),
            *("Enum.max", "Enum.min", "Enum.uniq", "Enum.join", "String.upcase", "String.length"),
            *("String.downcase", "String.split", "System.version", "div", "rem", "length", "hd"),
            *("Integer.to_string", "Float.round", "Integer.gcd"),
        )
    ),
    "Rscript": frozenset(
        (
            *("cat", "print", "mean", "sum", "c", "sd", "median", "max", "min", "length", "round"),
            *("sqrt", "seq", "paste", "paste0", "nchar", "var", "quantile", "rev", "sort", "table"),
            *("unique", "packageVersion", "R.version.string", "sessionInfo", "toupper", "tolower"),
            *("sprintf", "format", "TRUE", "FALSE", "NA", "as.character", "as.numeric", "abs"),
        )
    ),
}


def only_computes(language: str, words: Sequence[Word]) -> bool:
    """Return whether the code, the only word, computes and prints and does nothing else."""
    if len(words) != 1 or not words[0].text:
        return False
    code, at = words[0].text, 0
    known = _NAMES[language]
    while at < len(code):
        found = _TOKEN.match(code, at)
        if found is None:
            return False
        token, at = found.group(), found.end()
        name = token.lstrip(".")
        if not (name[:1].isalpha() or name[:1] == "_"):
            continue
        if token[0] == "." and not (language == "ruby" and _METHODS.issuperset(name.split("."))):
            return False
        if token[0] != "." and not _is_known(name, known):
            return False
    return True


def _is_known(name: str, known: frozenset[str]) -> bool:
    if name in known or _LOCAL.fullmatch(name):
        return True
    first, *rest = name.split(".")  # x.sum.round
    return bool(rest) and (_LOCAL.fullmatch(first) is not None) and _METHODS.issuperset(rest)
