"""Code in a line that only prints something: python -c, node -e.

Rule: an allow-list. Everything in the code must be one of few forms, or it is not harmless: no call
but of what only computes, no name with underscores but a few, no file but one of the workspace.
"""

import ast
import re
from collections.abc import Sequence

from nacre.core.policy.words import Word

_LONGEST = 400  # characters; who asks for a version needs fewer
_COMPUTING = frozenset(
    (
        *("print", "len", "str", "int", "float", "bool", "repr", "sorted", "list", "tuple", "set"),
        *("sum", "min", "max", "abs", "round", "range", "dict", "type"),
    )
)
_OF_MODULES = frozenset(
    (
        *("json.load", "json.loads", "json.dumps", "sys.getsizeof", "os.getcwd", "os.cpu_count"),
        *("platform.platform", "platform.python_version", "platform.machine", "platform.system"),
        *("sysconfig.get_paths", "site.getsitepackages", "importlib.metadata.version"),
        *("tomllib.loads", "time.time", "os.path.exists", "os.path.basename", "os.path.dirname"),
    )
)
_DUNDERS = frozenset(("__version__", "__file__", "__name__", "__doc__"))
_FORMS = (
    *(ast.Module, ast.Import, ast.Expr, ast.Constant, ast.Name, ast.Load, ast.Attribute, ast.Call),
    *(ast.JoinedStr, ast.FormattedValue, ast.Subscript, ast.Slice, ast.Tuple, ast.List),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.UnaryOp, ast.USub),
    *(ast.keyword, ast.alias),
)
_FILE = re.compile(r"(?!/)(?!.*\.\.)[\w./-]+\.(?:json|toml|txt|md|csv|cfg|ini)")
_MODULE = re.compile(r"[a-z][\w.]*")
# console.log of a file of JSON, of the process or of the system, and of parts of them.
_LOGS = re.compile(
    r"(?:console\.log|process\.stdout\.write)\("
    r"(?:require\((['\"])(?:\./[\w/-]+\.json|os)\1\)|process|Object\.keys\(process\.versions\)|[\d\s+*/-]+)"
    r"(?:\.\w+|\[\d+\]|\[(['\"])[\w./@-]+\2\])*\)\s*;?\s*"
)


def python_prints(words: Sequence[Word]) -> bool:
    """Return whether `python -c CODE` imports and prints, and nothing else."""
    texts = [word.text for word in words]
    if len(texts) != 1 or texts[0] is None or len(texts[0]) > _LONGEST:
        return False
    try:
        tree = ast.parse(texts[0])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_is_harmless(node) for node in ast.walk(tree))


def _is_harmless(node: ast.AST) -> bool:
    if not isinstance(node, _FORMS):
        return False
    if isinstance(node, ast.Import):
        return all(_MODULE.fullmatch(alias.name) and not alias.asname for alias in node.names)
    if isinstance(node, ast.Attribute):
        return not node.attr.startswith("_") or node.attr in _DUNDERS
    if isinstance(node, ast.Name):
        return not node.id.startswith("_")
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Mod)):
        return not isinstance(node.left, ast.Constant) or not isinstance(node.left.value, str)
    return not isinstance(node, ast.Call) or _computes(node)


def _computes(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if name == "open":  # to read, and only what it may be
        given = call.args[0] if len(call.args) == 1 and not call.keywords else None
        return (
            isinstance(given, ast.Constant)
            and isinstance(given.value, str)
            and bool(_FILE.fullmatch(given.value))
        )
    if any(keyword.arg not in ("sep", "end", "indent", "reverse") for keyword in call.keywords):
        return False
    return name in _COMPUTING or name in _OF_MODULES


def node_prints(words: Sequence[Word]) -> bool:
    """Return whether `node -e CODE` prints one thing that is known here, and nothing else."""
    texts = [word.text for word in words]
    return len(texts) == 1 and texts[0] is not None and bool(_LOGS.fullmatch(texts[0]))
