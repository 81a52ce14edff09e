"""Programs that look at sources and do not run them: formatters, linters, checkers of types.

Rule: they run their own settings, plugins and rules, so only what plainly is a source of their
language is merely looked at, and nothing whose name says that it may steer them.
"""

import re
from collections.abc import Iterable

from nacre.core.policy.words import Program

_PYTHON = (".py", ".pyi")
_SCRIPT = (".ts", ".tsx", ".jsx", ".vue", ".svelte", ".css", ".scss", ".html", ".md")
_C = (".c", ".h", ".cc", ".cpp", ".hpp", ".cxx")
# By the program, or by it and its sub-command.
_LOOKED_AT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("mypy", "pyright", "basedpyright", "ruff", "black", "isort"), _PYTHON),
    **dict.fromkeys(("flake8", "pyflakes", "pycodestyle", "ty"), _PYTHON),
    **dict.fromkeys(("tsc", "vue-tsc", "eslint", "prettier", "stylelint", "biome"), _SCRIPT),
    **dict.fromkeys(("gofmt", "goimports", "gofumpt", "go vet", "staticcheck"), (".go",)),
    **dict.fromkeys(("rubocop", "standardrb"), (".rb",)),
    **dict.fromkeys(("terraform fmt", "terraform validate", "tofu fmt", "tflint"), (".tf",)),
    **dict.fromkeys(("rustfmt", "cargo fmt"), (".rs",)),
    **dict.fromkeys(("clang-format", "clang-tidy", "cppcheck"), _C),
    **dict.fromkeys(("php -l", "phpcs", "pint"), (".php",)),
    **dict.fromkeys(("swiftlint", "swift-format", "swiftformat"), (".swift",)),
    **dict.fromkeys(("shellcheck", "shfmt"), (".sh", ".bash")),
    **dict.fromkeys(("ktlint", "detekt"), (".kt",)),
    **dict.fromkeys(("dart format", "dart analyze"), (".dart",)),
    **dict.fromkeys(("kubeconform", "kubeval", "yamllint"), (".yaml", ".yml")),
    "mix format": (".ex",),
}
_STEERS = re.compile(r"(?i)config|plugin|rules?\b|conftest|setup\.py|eslint|prettier|rubocop")
# What stands before a checker's own name, and how many words more.
_LAUNCHERS = {"npx": 1, "bunx": 1, "pnpx": 1}
_RUNNING = frozenset(("exec", "run", "-m"))


def only_looks_at(program: Program, paths: Iterable[str]) -> bool:
    """Return whether a program looks at these files, all of which are known, and runs none."""
    words = [word.shown for word in program.words]
    words[0] = program.name
    words = words[_LAUNCHERS.get(program.name, 0) :]
    if len(words) > 2 and words[1] in _RUNNING:
        words = words[2:]
    endings = _LOOKED_AT.get(words[0]) or _LOOKED_AT.get(" ".join(words[:2]))
    return endings is not None and all(
        path.endswith(endings) and not _STEERS.search(path) for path in paths
    )
