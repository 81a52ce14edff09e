"""Variables that change what other programs do, and values of them that change nothing much."""

import re

from nacre.core.policy.words import Assignment

# Assignments that make a later program run something else, load something else or read a line
# otherwise. From the manuals of the shells, the loader, git and the language runtimes.
_TELLING = re.compile(
    r"PATH|LD_.*|DYLD_.*|BASH_ENV|ENV|IFS|PS[0-4]|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_FUNC_.*"
    r"|CDPATH|GLOBIGNORE|FPATH|ZDOTDIR|HISTFILE|HISTCMD|INPUTRC|TERMINFO.*|GIT_.*|SSH_ASKPASS.*"
    r"|SUDO_.*|NODE_OPTIONS|NODE_PATH|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT"
    r"|PERL5.*|PERLLIB|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS"
    r"|MAVEN_OPTS|GRADLE_OPTS|RUSTC_WRAPPER|RUSTC|CARGO_.*RUNNER|CC|CXX|LDFLAGS|SHELL|MAKEFLAGS"
    r"|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|LESS|GCONV_PATH|LOCPATH|HOSTALIASES"
    r"|TAR_OPTIONS|GREP_OPTIONS|RSYNC_RSH|CVS_RSH|npm_config_.*|NPM_CONFIG_.*|PIP_.*|UV_.*"
    r"|DOCKER_HOST|KUBECONFIG|HOME|OPENSSL_CONF|SSL_CERT_.*|BASH_.*|AWKPATH|AWKLIBPATH|TMPDIR"
)
# What people and agents give them: a pager that does not page, an editor that does not edit.
_HARMLESS = {
    **dict.fromkeys(("PAGER", "MANPAGER", "GIT_PAGER"), frozenset(("", "cat", "less", "more"))),
    **dict.fromkeys(
        ("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"),
        frozenset(("", "true", ":", "cat", "vi", "vim", "nano")),
    ),
    "GIT_TERMINAL_PROMPT": frozenset("01"),
    "GIT_OPTIONAL_LOCKS": frozenset("01"),
    "CC": frozenset(("gcc", "clang", "cc")),
    "CXX": frozenset(("g++", "clang++", "c++")),
    "LESS": frozenset(("", "-R", "-F", "-FRX", "FRX", "R")),
}
_PLAIN_IDENTITY = re.compile(r"GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)")
_NO_COMMANDS = re.compile(r"PIP_(?:NO_INPUT|DISABLE_PIP_VERSION_CHECK|QUIET|NO_CACHE_DIR)|UV_NO_.*")


def is_harmless(assignment: Assignment) -> bool:
    name, value = assignment.name, assignment.value.text
    if not _TELLING.fullmatch(name) or _PLAIN_IDENTITY.fullmatch(name):
        return True
    if _NO_COMMANDS.fullmatch(name):
        return True
    return value is not None and value in _HARMLESS.get(name, ())
