"""Tasks and sub-commands by what their names say: make db-drop, npm run deploy:prod, nx reset.

Rule: a task's name is all that the line tells of it. It is taken apart into words, so that the same
word asks wherever it stands and however it is written (dropDb, db:drop, drop_db).
"""

import re
from collections.abc import Sequence

from nacre.core.policy.words import Word

_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
# They take something away, hand it out, or reach other machines.
_RISKY = frozenset(
    """
    delete deleted destroy drop dropdb empty erase evict expire kill killall nuke obliterate prune
    purge remove reset rm shred teardown terminate truncate uninstall unlink unpublish wipe yank
    deploy deployment predeploy postdeploy redeploy undeploy publish publishing push pushed ship
    promote rollout rollback submit upload distribute bintray provision decommission failover
    downgrade eject revert undo revoke rotate flush flushall refund tunnel sonatype
    send notify email emails newsletter broadcast sms ssh sudo shutdown reboot
    """.split()  # noqa: SIM905  # a list of words is read as one
)
# They do so together with another word.
_TOGETHER = (
    (
        frozenset(("apply",)),
        frozenset(
            (
                *("tf", "terraform", "tofu", "infra", "infrastructure", "k8", "k", "kube", "helm"),
                *("kubernetes", "kustomize", "prod", "production", "staging", "plan", "stack"),
                *("cluster", "manifests", "pulumi", "ansible", "secrets", "config", "changes"),
            )
        ),
    ),
    (
        frozenset(("prod", "production", "live")),
        frozenset(
            (
                *(
                    "migrate",
                    "migration",
                    "migrations",
                    "seed",
                    "sync",
                    "restart",
                    "db",
                    "database",
                ),
                *("import", "exec", "console", "shell", "copy", "up", "stop", "down", "update"),
                *("upgrade", "run", "restore", "load", "backfill", "query", "sql", "tunnel"),
            )
        ),
    ),
    (
        frozenset(("clean", "cleanup", "clear")),
        frozenset(
            (
                *("data", "db", "database", "volume", "volumes", "docker", "images", "containers"),
                *("bucket", "s3", "prod", "production", "logs", "backups", "branches", "users"),
            )
        ),
    ),
    (
        frozenset(("sync", "copy", "mirror")),
        frozenset(("s3", "remote", "bucket", "cdn", "server", "gcs", "rsync")),
    ),
    (frozenset(("migrate", "migration", "migrations")), frozenset(("down", "fresh", "force"))),
    (frozenset(("schema", "structure")), frozenset(("load",))),
    (frozenset(("gh", "github")), frozenset(("pages",))),
    (
        frozenset(("restore", "overwrite", "replace")),
        frozenset(("db", "database", "backup", "snapshot", "data")),
    ),
)
_ALONE = frozenset(("apply", "destroyAll"))
# What begins so only looks, builds the project or checks it.
_LOOKING = frozenset(
    """
    test tests testing lint check checks typecheck types docs doc coverage e2e spec unit help
    explain plan dry preview storybook verify validate
    """.split()  # noqa: SIM905  # a list of words is read as one
)
# The next word is no task.
_TAKES_WORD = frozenset(
    (
        *("-C", "-f", "--file", "-k", "-m", "-t", "--tests", "-x", "--exclude-task", "-j", "-p"),
        *("--filter", "-F", "-w", "--workspace", "--grep", "-g", "-D", "-pl", "-P", "--project"),
        *("--projects", "--scope", "--exclude", "--only", "--base", "--head", "--config", "-c"),
        *("--directory", "--makefile", "--justfile", "-d", "-E", "-I", "-W", "--dir"),
    )
)
# A tool's own commands that reach beyond the project, or take back what it keeps.
_SUBCOMMANDS = _RISKY | frozenset(
    """
    exec upgrade upgrade-all gc login logout signin signup register connect disconnect link trust
    cleanup self-update selfupdate self-upgrade autoupdate telemetry share tunnel expose repl shell
    console codegen open token tokens secret secrets auth import
    """.split()  # noqa: SIM905  # a list of words is read as one
)


def is_risky_task(name: str) -> bool:
    """Return whether a task's name says that it takes something away or hands it out."""
    parts = [part.lower() for part in _PART.findall(name)]
    if not parts or parts[0] in _LOOKING:
        return False
    found = set(parts)
    if found & _RISKY or (len(parts) == 1 and parts[0] in _ALONE):
        return True
    return any(found & one and found & other for one, other in _TOGETHER)


def first_task(words: Sequence[Word]) -> bool:
    """Return whether the task that is run (npm run TASK) is a risky one; its words are its own."""
    return any(is_risky_task(name) for name in _names(words)[:1])


def any_task(words: Sequence[Word]) -> bool:
    """Return whether one of the tasks that are run (make A B) is a risky one."""
    return any(is_risky_task(name) for name in _names(words))


def is_risky_subcommand(words: Sequence[Word]) -> bool:
    """Return whether a tool is told to do more than it is there for (nx reset, lerna exec)."""
    first, second = ([*_names(words), "", ""])[:2]
    return first in _SUBCOMMANDS or second in _RISKY or second in ("clear", "clean")


def _names(words: Sequence[Word]) -> list[str]:
    """Return the words that may be names of tasks: no options, settings and files."""
    found = []
    before = ""
    for word in words:
        text, last = word.text or word.lead, before
        before = text
        if text == "--":
            break
        if text[:1] in ("", "-", "+", "@") or last in _TAKES_WORD:
            continue
        if "=" not in text and "/" not in text and not re.search(r"\.\w{1,4}$", text):
            found.append(text)
    return found
