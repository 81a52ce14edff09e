"""Variables that change what other programs do, and values of them that change nothing much."""

import re

from nacre.core.policy.words import Assignment, Word

# Assignments that make a later program run something else, load something else or read a line
# otherwise. From the manuals of the shells, the loader, git and the language runtimes.
_TELLING = re.compile(
    r"PATH|LD_.*|DYLD_.*|BASH_ENV|ENV|IFS|PS[0-4]|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_FUNC_.*"
    r"|CDPATH|GLOBIGNORE|FPATH|ZDOTDIR|HISTFILE|HISTFILESIZE|HISTSIZE|HISTCONTROL|HISTIGNORE|HISTCMD|INPUTRC|TERMINFO.*|GIT_.*|SSH_ASKPASS.*"
    r"|SUDO_.*|NODE_OPTIONS|NODE_PATH|PERL5.*|PERLLIB|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS"
    r"|RUSTC|CC|CXX|LDFLAGS|SHELL|MAKEFLAGS"
    r"|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|GCONV_PATH|LOCPATH|HOSTALIASES"
    r"|TAR_OPTIONS|GREP_OPTIONS|CVS_RSH|npm_config_.*|NPM_CONFIG_.*|PIP_.*|UV_.*"
    r"|DOCKER_.*|KUBECONFIG|HOME|OPENSSL_.*|SSL_CERT_.*|SSLKEYLOGFILE|BASH_.*|AWKPATH|AWKLIBPATH"
    # languages and their tools
    r"|PYTHON.*|PYTEST_.*|PYLINTRC|MYPYPATH|COVERAGE_.*|GOFLAGS|GOROOT|GOTOOLCHAIN|GOPROXY|CGO_.*"
    r"|GO_EXTLINK.*|RUSTC_.*|RUSTDOC.*|RUSTFLAGS|CARGO_.*|LD|AR|AS|NM|CPP|FC|RANLIB|STRIP|OBJCOPY"
    r"|CFLAGS|CPPFLAGS|CXXFLAGS|MAKE|MAKEFILES|GNUMAKEFLAGS|MFLAGS|CONFIG_SHELL|CONFIG_SITE|CMAKE_.*"
    r"|JAVA_HOME|JAVA_OPTS|JVM_OPTS|CLASSPATH|M2_HOME|MAVEN_.*|GRADLE_.*|SBT_OPTS|ANT_.*|DOTNET_S.*"
    r"|DOTNET_ADD.*|COR_.*|CORECLR_.*|GEM_.*|BUNDLE_.*|PHPRC|PHP_INI.*|COMPOSER_.*|LUA_.*|R_.*|ERL_.*"
    r"|YARN_.*|BUN_.*|DENO_.*|NODE_EXTRA.*|NODE_V8.*|GCC_.*|COMPILER_PATH|LIBRARY_PATH|CPATH"
    r"|DEPENDENCIES_OUTPUT|SUNPRO_.*|TF_CLI.*|TF_PLUGIN.*|COMPOSE_FILE|KUBECTL_.*|HELM_.*|AWS_CONFIG.*"
    # families: where a tool gets its packages or sends its requests, and what it runs beside itself
    r"|\w*_(?:REGISTRY|MIRROR|INDEX_URL|DIST_SERVER|ENDPOINT(?:_URL\w*)?|CA_BUNDLE|SERVICE_URL)"
    r"|\w*_(?:WRAPPER|LAUNCHER|SHELL|EDITOR|PAGER|PRELOAD|EXECUTABLE(?:_PATH)?|RSH|ASKPASS|OPTS)"
    r"|AWS_ENDPOINT.*|AWS_SHARED.*|PG(?:HOST|HOSTADDR|SERVICE|SERVICEFILE|SYSCONFDIR)|GO(?:NOSUM|SUM)DB"
    r"|GOINSECURE|HF_ENDPOINT|RUSTUP_.*|HOMEBREW_.*|MIX_(?!ENV|TARGET)\w+|REBAR_.*"
    # programs' own files and options
    r"|RIPGREP_CONFIG_PATH|FZF_.*|BAT_.*|DELTA_.*|SYSTEMD_.*|MANOPT|MANROFF.*|MANPATH|GROFF_.*"
    r"|LESS.*|GH_PAGER|GH_EDITOR|GH_BROWSER|GH_HOST|GH_CONFIG.*|PSQL.*|MYSQL_.*|SQLITE_.*|XDG_.*"
    r"|CURL_.*|WGETRC|ZIPOPT|UNZIP|ZIP|GZIP|BZIP2?|XZ_.*|ZSTD_.*|RSYNC_.*|POSIXLY_CORRECT|FCEDIT"
    r"|[A-Za-z]*_(?:proxy|PROXY)|TMPDIR|histchars|EXECIGNORE|BC_ENV_ARGS|PWD|OLDPWD"
)
# Code in scratch, which whoever is told of it may load.
_FOREIGN = re.compile(
    r"(?:/tmp|/var/tmp|/dev/shm)/.*\.(?:so|dylib|py|[cm]?js|rb|exs?|lua|jar|php|pl)"
)
# Of these families, what only changes how much is printed or kept.
_MILD = re.compile(
    r"PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|IOENCODING|UTF8|FAULTHANDLER|DEVMODE|OPTIMIZE"
    r"|TRACEMALLOC|ASYNCIODEBUG|NOUSERSITE)|CARGO_(?:TERM|INCREMENTAL|NET_OFFLINE).*|CGO_ENABLED"
    r"|RUSTC_BOOTSTRAP|DOCKER_BUILDKIT|AWS_REGION|CMAKE_BUILD_PARALLEL_LEVEL|NODE_V8_COMPILE.*"
    r"|CMAKE_EXPORT_COMPILE_COMMANDS|BUNDLE_WITHOUT|DENO_NO_UPDATE_CHECK|SYSTEMD_COLORS|R_LIBS_.*"
)
# They say where code is found: within the workspace that is what the programs run anyway.
_HERE = re.compile(r"(?:PYTHONPATH|MYPYPATH|CLASSPATH)")
_COMPILER_FLAGS = re.compile(r"(?:RUSTFLAGS|RUSTDOCFLAGS|CFLAGS|CXXFLAGS|CPPFLAGS)")
_LOADING = re.compile(r"linker|plugin|wrapper|-B|-specs|-load|[;|&`$(]")
# What people and agents give them: a pager that does not page, an editor that does not edit.
_HARMLESS = {
    **dict.fromkeys(("PAGER", "MANPAGER", "GIT_PAGER"), frozenset(("", "cat", "less", "more"))),
    **dict.fromkeys(
        ("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"),
        frozenset(("", "true", ":", "cat", "vi", "vim", "nano")),
    ),
    # To an interactive sh it names a file; to everybody else, where an application runs.
    "ENV": frozenset(
        ("prod", "production", "dev", "development", "test", "testing", "staging", "local", "ci")
    ),
    "GIT_TERMINAL_PROMPT": frozenset("01"),
    "GIT_OPTIONAL_LOCKS": frozenset("01"),
    "CC": frozenset(("gcc", "clang", "cc")),
    "CXX": frozenset(("g++", "clang++", "c++")),
    "LESS": frozenset(("", "-R", "-F", "-FRX", "FRX", "R")),
}
# Options of runtimes that change how much they may use or say.
_MILD_FLAGS = {
    "NODE_OPTIONS": re.compile(
        r"(?:(?:^| )--(?:max-old-space-size=\d+|no-warnings|trace-warnings|enable-source-maps"
        r"|experimental-vm-modules|unhandled-rejections=\w+|no-deprecation|stack-trace-limit=\d+))+"
    ),
    **dict.fromkeys(
        ("GRADLE_OPTS", "MAVEN_OPTS", "JAVA_OPTS", "SBT_OPTS"),
        re.compile(r"(?:(?:^| )-X(?:m[sx]|ss)\d+[kmgKMG]?)+"),
    ),
    # A category with a dot in it is a module, which would be imported.
    "PYTHONWARNINGS": re.compile(
        r"(?:ignore|error|default|always|once|module)(?:::(?:Deprecation|Resource|User|Future)Warning)?"
    ),
    "GOFLAGS": re.compile(
        r"(?:(?:^| )-(?:mod=(?:mod|vendor|readonly)|v|race|count=\d+|trimpath))+"
    ),
}
# Folders of installed programs: nobody writes there unasked.
_TOOLS = re.compile(
    r"(?:\$HOME|\$\{HOME\}|~)/(?:\.local|\.cargo|go|\.go|\.npm-global|\.npm|\.bun|\.deno|\.rbenv|\.pyenv"
    r"|\.poetry|\.dotnet/tools|\.nix-profile|\.volta|\.fnm|\.asdf|\.opencode|\.foundry)(?:/bin|/shims)?"
    r"|/usr/local/(?:go/|cuda/)?s?bin|/usr/s?bin|/s?bin|/opt/homebrew/s?bin|/snap/bin"
)
# By such a name programs are told what they read first, load or start; elsewhere is anybody's.
_POINTING = re.compile(
    r"[A-Z][A-Z0-9_]*_(?:CONFIG(?:_FILE|_PATH|_DIR|URATION)?|RC|RCFILE|CMD|COMMAND|EDITOR|PAGER|SHELL"
    r"|HOOKS?|WRAPPER|LAUNCHER|RUNNER|PRELOAD|PLUGINS?|PLUGIN_(?:PATH|DIR)|STARTUP|INIT|REQUIRE|LOADER"
    r"|INTERPRETER|EXECUTABLE|BROWSER|ASKPASS|TEMPLATE_DIR|LIBRARY_PATH|MODULE_PATH|BIN|BINARY)"
)
_PLAIN_IDENTITY = re.compile(r"GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)")
_NO_COMMANDS = re.compile(r"PIP_(?:NO_INPUT|DISABLE_PIP_VERSION_CHECK|QUIET|NO_CACHE_DIR)|UV_NO_.*")


# The arrays by which zsh is told what a name stands for, and what it shows or runs by itself.
_ZSH_TELLING = re.compile(
    r"(?:dis_)?(?:functions|aliases|galiases|saliases|builtins|reswords)|commands|path|fpath|cdpath"
    r"|manpath|module_path|PROMPT[234]?|R?PROMPT2?|RPS[12]|SPROMPT|prompt|psvar|POSTEDIT|options"
    r"|widgets|keymaps|nameddirs|userdirs|parameters|(?:READ)?NULLCMD|ZLE_.*|ZLS_.*|WATCHFMT|watch"
    r"|\w+_functions|TMPPREFIX|historywords|STTY|KEYBOARD_HACK"
)


def tells_zsh(name: str) -> bool:
    return _ZSH_TELLING.fullmatch(name) is not None


def is_harmless(assignment: Assignment) -> bool:
    name, value = assignment.name, assignment.value.text
    if _PLAIN_IDENTITY.fullmatch(name):
        return True
    if value is not None and _FOREIGN.fullmatch(value):
        return False
    if not _TELLING.fullmatch(name):
        return not (_POINTING.fullmatch(name) and value and value[0] in "/~")
    if _NO_COMMANDS.fullmatch(name) or _MILD.fullmatch(name):
        return True
    if name in _MILD_FLAGS:
        return value is not None and _MILD_FLAGS[name].fullmatch(value) is not None
    if name == "PATH":
        return _adds_tools(assignment.value.raw.strip("\"'"))
    if _HERE.fullmatch(name):
        return _is_here(assignment.value)
    if value is not None and _COMPILER_FLAGS.fullmatch(name):
        return not _LOADING.search(value)
    return value is not None and value in _HARMLESS.get(name, ())


def _adds_tools(raw: str) -> bool:
    """Return whether a PATH is the one before, with folders of installed programs beside it."""
    parts = raw.split(":")
    kept = [part for part in parts if part in ("$PATH", "${PATH}")]
    others = [part for part in parts if part not in kept]
    return len(kept) == 1 and all(_TOOLS.fullmatch(part) for part in others)


def _is_here(value: Word) -> bool:
    """Return whether a list of folders has none that lies elsewhere."""
    text = value.raw.strip("\"'")
    for known in ("$PWD", "${PWD}", "$(pwd)", "$PYTHONPATH", "${PYTHONPATH}", "$CLASSPATH"):
        text = text.replace(known, ".")
    return not any(
        part.startswith(("/", "~")) or "$" in part or ".." in part.split("/")
        for part in text.split(":")
    )
