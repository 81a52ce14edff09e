"""What of Python only computes, reads and prints: builtins, functions of modules, methods.

Rule: a name is here only if no call of it writes, runs, sends or deletes, whatever it is given, and
if it calls nothing that it is given. (So there is no map, no filter, no functools.reduce.)
"""

import re

BUILTINS = frozenset(
    (
        *("print", "len", "str", "int", "float", "bool", "repr", "sorted", "list", "tuple", "set"),
        *("sum", "min", "max", "abs", "round", "range", "dict", "type", "enumerate", "zip", "any"),
        *("all", "reversed", "isinstance", "issubclass", "hasattr", "callable", "id", "hash"),
        *("ord", "chr", "hex", "bin", "oct", "divmod", "pow", "bytes", "bytearray", "frozenset"),
        *("complex", "format", "ascii", "dir", "exit", "next", "slice", "Exception", "ValueError"),
        *("SystemExit", "help", "AssertionError", "RuntimeError", "KeyError", "quit"),
    )
)
# Modules of which all functions only compute, but for those that call what they are given.
_PURE = frozenset(
    (
        *("math", "cmath", "statistics", "string", "textwrap", "datetime", "calendar", "zoneinfo"),
        *("decimal", "fractions", "hashlib", "base64", "binascii", "unicodedata", "difflib"),
        *("colorsys", "uuid", "random", "secrets", "keyword", "html", "ipaddress", "numbers"),
        *("platform", "sysconfig", "locale", "struct", "heapq", "bisect", "urllib.parse", "pprint"),
        *("fnmatch", "posixpath", "os.path", "stat", "errno", "zlib", "token"),
    )
)
_FUNCTIONS = frozenset(
    (
        *("json.load", "json.loads", "json.dumps", "sys.getsizeof", "os.getcwd", "os.cpu_count"),
        *("site.getsitepackages", "importlib.metadata.version", "importlib.metadata.files"),
        *("importlib.metadata.distribution", "importlib.metadata.distributions"),
        *("importlib.util.find_spec", "tomllib.loads", "tomllib.load", "time.time", "time.sleep"),
        *("time.perf_counter", "time.monotonic", "time.strftime", "time.gmtime", "time.localtime"),
        *("os.listdir", "os.walk", "os.scandir", "os.stat", "os.getenv", "os.environ.get"),
        *("os.environ.items", "os.environ.keys", "os.getpid", "os.getuid", "os.uname", "os.access"),
        *("os.get_terminal_size", "os.sched_getaffinity", "sys.exit", "sys.stdin.read"),
        *("sys.stdin.readlines", "sys.stdin.readline", "sys.getrecursionlimit", "sys.stdout.write"),
        *(
            "sys.stderr.write",
            "sys.stdout.flush",
            "sys.getdefaultencoding",
            "sys.stdin.buffer.read",
        ),
        *("shutil.which", "shutil.disk_usage", "glob.glob", "glob.iglob", "ast.parse", "ast.dump"),
        *("ast.literal_eval", "ast.walk", "ast.unparse", "ast.get_docstring", "yaml.safe_load"),
        *(
            "yaml.safe_load_all",
            "yaml.safe_dump",
            "csv.reader",
            "csv.DictReader",
            "inspect.signature",
        ),
        *("inspect.getsource", "inspect.getfile", "inspect.getdoc", "collections.Counter"),
        *("collections.OrderedDict", "collections.deque", "pathlib.Path.cwd", "pathlib.Path.home"),
        *("itertools.chain", "itertools.product", "itertools.permutations", "itertools.islice"),
        *("itertools.combinations", "itertools.count", "itertools.zip_longest", "itertools.cycle"),
        *("itertools.repeat", "re.findall", "re.search", "re.match", "re.compile", "re.split"),
        *("re.finditer", "re.fullmatch", "re.escape", "copy.copy", "copy.deepcopy"),
        *("pkgutil.iter_modules", "socket.gethostname", "getpass.getuser", "traceback.print_exc"),
        *("warnings.simplefilter", "warnings.filterwarnings", "xml.etree.ElementTree.fromstring"),
        *("packaging.version.parse", "packaging.version.Version", "numpy.array", "numpy.arange"),
        *("numpy.zeros", "numpy.ones", "numpy.linspace", "numpy.eye", "numpy.dot", "numpy.mean"),
        *("numpy.sum", "numpy.sqrt", "numpy.random.rand", "numpy.random.randn", "torch.zeros"),
        *("torch.ones", "torch.rand", "torch.randn", "torch.tensor", "pandas.DataFrame"),
        *("pandas.Series", "pandas.to_datetime", "numpy.show_config"),
    )
)
_CALLING = frozenset(("file_digest", "main", "test"))  # of the pure ones
# They answer with yes or no, of whatever module they are.
_ASKING = re.compile(
    r"[\w.]+\.(?:(?:is|has|supports)_[a-z_]+|(?:get_)?version|\w+_count|get_device_name)"
)
# Of what the code has computed itself, these only read or change what is in memory.
METHODS = frozenset(
    (
        *("read", "readline", "readlines", "split", "rsplit", "splitlines", "strip", "lstrip"),
        *("rstrip", "join", "lower", "upper", "title", "capitalize", "casefold", "startswith"),
        *("endswith", "find", "rfind", "index", "count", "format", "zfill", "center", "ljust"),
        *("rjust", "encode", "decode", "isdigit", "isalpha", "isalnum", "isspace", "isupper"),
        *("islower", "isnumeric", "partition", "rpartition", "removeprefix", "removesuffix"),
        *("expandtabs", "keys", "values", "items", "get", "append", "extend", "insert", "pop"),
        *("sort", "reverse", "copy", "setdefault", "add", "discard", "union", "intersection"),
        *("difference", "most_common", "elements", "popleft", "appendleft", "group", "groups"),
        *("groupdict", "span", "findall", "finditer", "search", "match", "fullmatch", "hexdigest"),
        *("digest", "isoformat", "strftime", "timestamp", "date", "time", "total_seconds"),
        *("astimezone", "weekday", "read_text", "read_bytes", "exists", "is_file", "is_dir"),
        *("glob", "rglob", "iterdir", "stat", "resolve", "relative_to", "as_posix", "with_suffix"),
        *("is_symlink", "tolist", "item", "sum", "mean", "std", "min", "max", "head", "tail"),
        *("describe", "info", "value_counts", "unique", "nunique", "groupby", "reshape", "size"),
        *(
            "isnull",
            "isna",
            "fillna",
            "dropna",
            "sort_values",
            "sort_index",
            "to_dict",
            "to_string",
        ),
        *("hex", "bit_length", "as_integer_ratio", "iter", "getroot", "findtext", "translate"),
    )
)
# Modules, and what leads to them all: a name that only computes may be another's there.
LEADING = frozenset(
    (
        *("os", "sys", "subprocess", "shutil", "builtins", "io", "posix", "modules", "importlib"),
        *("pathlib", "socket", "pickle", "ctypes", "signal", "tempfile", "multiprocessing", "pty"),
        *("codecs", "loader", "spec", "f_globals", "f_builtins", "gi_frame", "tb_frame"),
    )
)
DUNDERS = frozenset(("__version__", "__file__", "__name__", "__doc__", "__all__", "__path__"))
KEYWORDS = frozenset(
    (
        *("sep", "end", "indent", "reverse", "default", "key", "flush", "encoding", "errors"),
        *("sort_keys", "ensure_ascii", "separators", "start", "strict", "recursive", "maxsplit"),
        *("delimiter", "dtype", "tz", "axis", "file", "seconds", "minutes", "hours", "days"),
        *(
            "index_col",
            "header",
            "nrows",
            "usecols",
            "skiprows",
            "parse_dates",
            "weeks",
            "timespec",
            "mode",
            "newline",
            "repeat",
            "width",
            "base",
            "flags",
        ),
    )
)


def only_computes(name: str) -> bool:
    """Return whether a function of a module, by its whole name, only computes, reads or prints."""
    if name in _FUNCTIONS or _ASKING.fullmatch(name):
        return True
    module, _, function = name.rpartition(".")
    if module in ("datetime.datetime", "datetime.date", "datetime.timezone"):
        return True
    return module in _PURE and not function.startswith("_") and function not in _CALLING
