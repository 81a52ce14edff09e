"""Rules in files: those that nacre ships, the user's and a project's.

Rule 1: a file that cannot be read, or whose examples do not come out as they say, is an error with
its name, and nothing of it counts: half a policy would be believed to be a whole one.
Rule 2: the files only add rules, and the strictest rule wins. So a project cannot lift what its
user forbids.
"""

import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources

from msgspec.structs import replace

from nacre.core.policy.decide import Policy, decide
from nacre.core.policy.paths import Where
from nacre.core.policy.rulebook import RuleBook
from nacre.core.policy.rules import Rule, RuleFile, rules_from
from nacre.core.policy.verdicts import Preset
from nacre.errors import InvalidInput

USER_FILE = "policy.toml"  # beside config.toml
PROJECT_FILE = ".nacre/policy.toml"  # in the folder of a project

# Which shipped files make a preset; of those in the second place only what they forbid.
_SHIPPED: dict[Preset, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "open": (("options", "open"), ()),
    "guarded": (("options", "open", "guarded", "tools", "foreign"), ()),
    "strict": (("options", "open", "strict"), ("guarded",)),
}
# Examples are judged as if they were typed here.
EXAMPLE = Where("/home/you/project", home="/home/you", workspace="/home/you/project")


def load_policy(preset: Preset, files: Sequence[str] = (), config: str | None = None) -> Policy:
    """Read a preset and further files of rules. Raises InvalidInput.

    `config` is the folder of the user's own file, however a project's may be called.
    """
    trusted = [path for path in files if not _is_of_project(path, config)]
    base = _book(preset, trusted)
    if len(trusted) == len(files):
        return Policy(preset, base)
    book = _book(preset, trusted)
    for path in files:
        if path not in trusted:
            file = read_rules(path)
            # What it says of another file's program would move that one's rules to other words.
            unknown = tuple(one for one in file.program if not base.is_about(one.name.split()[0]))
            book.add(replace(file, program=unknown))
    return Policy(preset, book, Policy(preset, base))


def _is_of_project(path: str, config: str | None) -> bool:
    return path.endswith(f"/{PROJECT_FILE}") and (config is None or path != user_file(config))


def _book(preset: Preset, files: Iterable[str]) -> RuleBook:
    book = RuleBook()
    whole, forbidding = _SHIPPED[preset]
    for name in whole:
        book.add(shipped(name))
    for name in forbidding:
        book.add(_forbids(shipped(name)))
    for path in files:
        book.add(read_rules(path))
    return book


def rule_files(config: str, folder: str) -> list[str]:
    """Return the files of rules that there are for a user and the project of a folder."""
    found = [os.path.join(config, USER_FILE)]
    for path, ends in _places(folder):
        found.append(path)
        if os.access(ends, os.F_OK):
            break
    # Not os.path.exists: this is asked for every line that is judged.
    return [path for path in found if os.access(path, os.F_OK)]


@lru_cache(maxsize=256)
def _places(folder: str) -> tuple[tuple[str, str], ...]:
    """Return where a project's file may be, from the folder upwards, and what ends a project."""
    places = []
    at = folder
    while True:
        places.append((os.path.join(at, PROJECT_FILE), os.path.join(at, ".git")))
        if (parent := os.path.dirname(at)) == at:
            return tuple(places)
        at = parent


def user_file(config: str) -> str:
    return os.path.join(config, USER_FILE)


def save_line(config: str, line: str, why: str) -> str:
    """Add a rule that allows exactly this line to the user's file; return the file.

    Raises InvalidInput when the file is wrong.
    """
    return save_rule(config, {"line": line, "verdict": "allow", "justification": why})


def save_tool(config: str, tool: str, why: str) -> str:
    """Add a rule that allows an upstream tool; as save_line."""
    return save_rule(config, {"tool": tool, "verdict": "allow", "justification": why})


def save_rule(config: str, fields: Mapping[str, str | Sequence[str]]) -> str:
    """Add a rule to the user's file; return the file.

    What stands in it stays as it is, comments too. Raises InvalidInput when the file is wrong.
    """
    path = os.path.join(config, USER_FILE)
    try:
        with open(path, encoding="utf-8") as file:
            before = file.read()
    except FileNotFoundError:
        before = ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}", "correct the file") from error
    if before and not before.endswith("\n"):
        before += "\n"
    # A string, or a list of them, is written in TOML as in JSON, but for DEL and JSON's pairs of
    # surrogates: an emoji stands as it is.
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")
        for name, value in fields.items()
    ]
    after = before + ("\n" if before else "") + "\n".join(("[[rule]]", *lines, ""))
    try:
        rules = rules_from(tomllib.loads(after), path)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"cannot add a rule to {path}: {error}", "correct the file") from error
    if rules_from({"rule": [fields]}, path).rule[0] not in rules.rule:
        raise InvalidInput(
            f"this {next(iter(fields))} cannot be written to a file of rules", "allow it once"
        )
    _replace(path, after)
    return path


def _replace(path: str, text: str) -> None:
    new = f"{path}.new"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def read_rules(path: str) -> RuleFile:
    """Read one file. Raises InvalidInput when it is no file of rules, or an example fails."""
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}", "check its path") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}", "correct the file") from error
    return _checked(rules_from(data, path), path)


@cache
def shipped(name: str) -> RuleFile:
    folder = resources.files("nacre.core.policy") / "presets"
    return rules_from(tomllib.loads((folder / f"{name}.toml").read_text()), f"{name}.toml")


def _checked(file: RuleFile, source: str) -> RuleFile:
    for rule in file.rule:
        for problem in failing_examples(rule, file):
            raise InvalidInput(f"{source}: {problem}", "correct the rule or its example")
    return file


def failing_examples(rule: Rule, file: RuleFile) -> Iterable[str]:
    """Yield what is wrong with a rule's examples: it alone is asked."""
    book = RuleBook()
    book.add(shipped("options"))
    book.add(RuleFile(rule=(rule,), program=file.program, options=file.options))
    # Under `open` nothing but the rule itself has a say.
    policy = Policy("open" if rule.verdict != "allow" else "guarded", book)
    for line in rule.match:
        if not _hits(line, rule, policy):
            yield f"the rule {rule.title!r} does not match its example {line!r}"
    for line in rule.not_match:
        if _hits(line, rule, policy):
            yield f"the rule {rule.title!r} matches {line!r}, which it says it does not"


def _hits(line: str, rule: Rule, policy: Policy) -> bool:
    return rule.title in decide(line, policy, EXAMPLE).matched


def _forbids(file: RuleFile) -> RuleFile:
    return RuleFile(rule=tuple(rule for rule in file.rule if rule.verdict == "deny"))
