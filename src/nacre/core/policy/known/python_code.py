"""Python code in a line (python -c, a here-document): does it only compute, read and print?

Rule 1: an allow-list. Every node must be of a known form, every call one of a known name
(python_names.py); what is defined here may be called, because it is read here too.
Rule 2: a name stays what it was: nothing that may be called is set anew, no attribute is set, and a
module is used for its attributes alone, never handed on.
Rule 3: files are opened to be read, and only those that are named relative to the folder.
"""

import ast
import re
import warnings
from collections.abc import Iterator

from nacre.core.policy.known.python_names import (
    BUILTINS,
    DUNDERS,
    KEYWORDS,
    LEADING,
    METHODS,
    only_computes,
)

_LONGEST = 4000  # characters
_FORMS = (
    *(ast.Module, ast.Import, ast.ImportFrom, ast.alias, ast.Expr, ast.Constant, ast.Name),
    *(ast.Load, ast.Store, ast.Attribute, ast.Call, ast.keyword, ast.JoinedStr, ast.FormattedValue),
    *(ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.BinOp),
    *(ast.operator, ast.UnaryOp, ast.unaryop, ast.BoolOp, ast.boolop, ast.Compare, ast.cmpop),
    *(ast.IfExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Pass, ast.Break),
    *(ast.Continue, ast.Assert, ast.Raise, ast.Try, ast.ExceptHandler, ast.With, ast.withitem),
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Lambda, ast.NamedExpr),
)
_MODULE = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)*")
_OPENS = frozenset(
    (
        *("open", "pathlib.Path", "pathlib.PurePath", "glob.glob", "glob.iglob", "os.listdir"),
        *("os.walk", "os.scandir", "os.stat", "os.access", "sys.path.insert", "sys.path.append"),
        *("pandas.read_csv", "pandas.read_json", "pandas.read_parquet", "pandas.read_excel"),
        *("numpy.loadtxt", "numpy.genfromtxt"),
    )
)
_MAKERS = frozenset(("int", "float", "str", "list", "dict", "set", "bool"))
# By them a path could be put together that no text of the code shows.
_SPELLING = frozenset(
    (
        *("chr", "bytes", "bytearray", "sep", "altsep", "expanduser", "home", "punctuation"),
        *("environ", "getenv", "abspath", "realpath", "printable", "decode", "parent", "parents"),
    )
)


def only_prints(code: str) -> bool:
    """Return whether code computes, reads and prints, and nothing else."""
    if len(code) > _LONGEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its escapes; who runs it will see them
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return _Code(tree).is_harmless()


class _Code:
    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._imported: dict[str, str] = {}  # names, and what they stand for
        self._defined = {one.name for one in self._nodes if isinstance(one, ast.FunctionDef)}
        self._stored = set(_stored(self._nodes))
        # Names whose attribute is taken: a module may stand there, and nowhere else.
        self._based = {id(one.value) for one in self._nodes if isinstance(one, ast.Attribute)}
        self._called = {id(one.func) for one in self._nodes if isinstance(one, ast.Call)}

    def is_harmless(self) -> bool:
        if not all(isinstance(node, _FORMS) for node in self._nodes):
            return False
        if not all(self._take_import(node) for node in self._nodes):
            return False
        fixed = BUILTINS | {"open"} | self._imported.keys() | self._defined
        if self._stored & fixed or self._defined & (BUILTINS | {"open"} | self._imported.keys()):
            return False
        return all(self._is_harmless(node) for node in self._nodes)

    def _take_import(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                whole = alias.name if alias.asname else name
                if not _MODULE.fullmatch(alias.name) or not self._name(name, whole):
                    return False
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None or not _MODULE.fullmatch(node.module):
                return False
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if alias.name == "*" or not self._name(alias.asname or alias.name, whole):
                    return False
        return True

    def _name(self, name: str, whole: str) -> bool:
        if name in BUILTINS or name == "open" or name.startswith("_"):
            return False
        return self._imported.setdefault(name, whole) == whole

    def _is_harmless(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            if not isinstance(node.ctx, ast.Load) or node.attr in LEADING:
                return False
            return not node.attr.startswith("_") or node.attr in DUNDERS
        if isinstance(node, ast.Name):
            return self._is_plain(node)
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return isinstance(node.value, ast.Name) and node.value.id in self._stored
        if isinstance(node, ast.FunctionDef):
            return not node.decorator_list
        if isinstance(node, ast.arg):
            return node.annotation is None
        if isinstance(node, ast.BinOp):
            texts = [side for side in (node.left, node.right) if _is_text(side)]
            if isinstance(node.op, ast.Mult):
                return not texts or _is_short(node)
            # Path('.') / '/etc' leads to /etc.
            return not isinstance(node.op, ast.Div) or all(_lies_here(_value(one)) for one in texts)
        return not isinstance(node, ast.Call) or self._computes(node)

    def _is_plain(self, node: ast.Name) -> bool:
        if node.id.startswith("_"):
            return node.id in ("_", "__name__")
        if id(node) in self._called or id(node) in self._based:
            return True
        # Handed on, it could be called by who gets it.
        whole = self._imported.get(node.id)
        if whole is None or only_computes(whole):
            return True
        return "." in whole and not set(whole.split(".")) & LEADING

    def _computes(self, call: ast.Call) -> bool:
        if not all(self._is_option(one) for one in call.keywords):
            return False
        if any(isinstance(one, (ast.Lambda, ast.Starred)) for one in call.args):
            return isinstance(call.func, ast.Name) and call.func.id == "print"
        name = self._whole_name(call.func)
        if name in _OPENS:
            return self._reads(name, call)
        if name == "collections.defaultdict":  # it calls what it is given
            return all(isinstance(one, ast.Name) and one.id in _MAKERS for one in call.args)
        if isinstance(call.func, ast.Name):
            return call.func.id in BUILTINS | self._defined or (
                call.func.id in self._imported and only_computes(name or "")
            )
        if not isinstance(call.func, ast.Attribute):
            return False
        if name is not None:
            return only_computes(name) or (name == "re.sub" and _is_known(call.args[1:2]))
        if call.func.attr == "replace":  # of a text: that of a path has one word
            return len(call.args) >= 2
        if call.func.attr == "sub":
            return _is_known(call.args[:1])
        if call.func.attr in ("glob", "rglob"):
            return all(_is_text(one) and _lies_here(_value(one)) for one in call.args)
        return call.func.attr in METHODS

    def _is_option(self, keyword: ast.keyword) -> bool:
        if keyword.arg not in KEYWORDS:
            return False
        value = keyword.value
        if keyword.arg in ("key", "default"):
            named = isinstance(value, ast.Name) and value.id in (
                "len",
                "str",
                "int",
                "repr",
                "list",
            )
            method = isinstance(value, ast.Attribute) and ast.unparse(value) in ("str.lower",)
            return named or method or isinstance(value, (ast.Lambda, ast.Constant))
        if keyword.arg == "file":
            return ast.unparse(value) in ("sys.stderr", "sys.stdout")
        return True

    def _whole_name(self, node: ast.expr) -> str | None:
        """Return the dotted name of a function that is a module's; None: it is none."""
        parts: list[str] = []
        at = node
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        if not isinstance(at, ast.Name):
            return None
        if not parts and at.id == "open":
            return "open"
        whole = self._imported.get(at.id)
        return None if whole is None else ".".join((whole, *reversed(parts)))

    def _reads(self, name: str, call: ast.Call) -> bool:
        """Return whether what it opens is opened to be read, and lies in the folder."""
        modes = [one.value for one in call.keywords if one.arg == "mode"]
        if name == "open":
            modes += call.args[1:2]
        if not all(
            isinstance(one, ast.Constant) and one.value in ("r", "rb", "rt") for one in modes
        ):
            return False
        if name == "open" and (not call.args or len(call.args) > 2):
            return False
        given = call.args[:1] if name == "open" else call.args
        if all(isinstance(one, ast.Constant) for one in given):
            return all(_lies_here(one.value) for one in given if isinstance(one, ast.Constant))
        # What a variable holds may be put together from any text of the code.
        return all(self._spells_nothing(node) for node in self._nodes)

    @staticmethod
    def _spells_nothing(node: ast.AST) -> bool:
        if isinstance(node, ast.Constant):
            return _lies_here(node.value)
        if isinstance(node, ast.Subscript):
            return not isinstance(node.value, ast.Constant)
        if isinstance(node, ast.BinOp):
            return not isinstance(node.op, ast.Mod)
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        return name not in _SPELLING


def _stored(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _lies_here(value: object) -> bool:
    if not isinstance(value, (str, bytes)):
        return True
    text = value if isinstance(value, str) else value.decode(errors="replace")
    return not text.startswith(("/", "~")) and ".." not in text.split("/") and "://" not in text


def _is_text(node: ast.expr) -> bool:
    return isinstance(_value(node), (str, bytes))


def _value(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _is_known(words: list[ast.expr]) -> bool:
    """Return whether what is put in a match's place is a text, not something to be called."""
    return bool(words) and isinstance(words[0], (ast.Constant, ast.JoinedStr))


def _is_short(node: ast.BinOp) -> bool:
    """'-' * 40, and no text that fills the memory."""
    numbers = [
        one.value
        for one in (node.left, node.right)
        if isinstance(one, ast.Constant) and isinstance(one.value, int)
    ]
    return len(numbers) == 1 and abs(numbers[0]) <= 1000
