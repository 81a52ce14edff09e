"""What a session gets of the environment: by an allow-list.

A daemon that an AI host started has that host's environment, with its keys. So only what programs
need to find their way is passed on: people, folders, languages, tools, the desktop, the network.

Rule 1: what is not listed here, or named by the setting session_env, is not passed on. The caller's
own variables (client/greeting.py) and those that a request gives come on top.
Rule 2: what goes with a PATH or a language is one person's choice and is never mixed: a caller with
a PATH of its own gets nobody else's virtual environment or compiler.
Rule 3: a sandbox gets less: no way to the desktop, to agents of keys, or out.
"""

import os
import pwd
from collections.abc import Mapping
from fnmatch import fnmatchcase

PASSED_ON = (
    *("HOME", "USER", "LOGNAME", "SHELL", "PATH", "MANPATH", "INFOPATH", "HOSTNAME", "NACRE_HOME"),
    *("LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP"),
    *("EDITOR", "VISUAL", "PAGER", "BROWSER", "LESS", "LESSOPEN", "LESSCLOSE", "MANPAGER"),
    *("LS_COLORS", "GREP_COLORS", "NO_COLOR", "CLICOLOR", "CI", "DEBIAN_FRONTEND"),
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "SUDO_ASKPASS", "SSH_ASKPASS"),
    *("SSH_ASKPASS_REQUIRE", "GIT_ASKPASS", "GNUPGHOME", "PASSWORD_STORE_DIR"),
    *("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_*", "DBUS_SESSION_BUS_ADDRESS"),
    *("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
    *(
        "NODE_EXTRA_CA_CERTS",
        "GIT_SSL_CAINFO",
        "NIX_PATH",
        "NIX_PROFILES",
        "LOCALE_ARCHIVE",
    ),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE", "CONDA_SHLVL"),
    *("PYENV_ROOT", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"),
    *(
        "PIP_INDEX_URL",
        "PIP_CONFIG_FILE",
        "PIP_CACHE_DIR",
        "UV_INDEX_URL",
        "UV_CACHE_DIR",
        "POETRY_HOME",
    ),
    *("NVM_DIR", "NVM_BIN", "VOLTA_HOME", "FNM_DIR", "BUN_INSTALL", "DENO_DIR"),
    *("npm_config_registry", "npm_config_cache", "NPM_CONFIG_REGISTRY", "NPM_CONFIG_CACHE"),
    *("GOROOT", "GOPATH", "GOBIN", "GOPROXY", "GOFLAGS", "GOMODCACHE", "GOTOOLCHAIN"),
    *("CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME", "MAVEN_HOME", "GRADLE_HOME"),
    *(
        "GEM_HOME",
        "GEM_PATH",
        "RBENV_ROOT",
        "ASDF_DIR",
        "ASDF_DATA_DIR",
        "MISE_DATA_DIR",
        "SDKMAN_DIR",
    ),
    *("ANDROID_HOME", "ANDROID_SDK_ROOT", "DOTNET_ROOT", "CUDA_HOME", "CUDA_VISIBLE_DEVICES"),
    *("HOMEBREW_PREFIX", "HOMEBREW_CELLAR", "HOMEBREW_REPOSITORY", "PKG_CONFIG_PATH"),
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CCACHE_DIR", "CMAKE_PREFIX_PATH"),
    *("DOCKER_HOST", "DOCKER_CONTEXT", "KUBECONFIG", "AWS_PROFILE", "AWS_REGION"),
    *("AWS_DEFAULT_REGION", "GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CONFIG", "AZURE_CONFIG_DIR"),
    *("WSL_DISTRO_NAME", "WSL_INTEROP", "WSLENV", "container", "GIT_AUTHOR_*"),
    *("GIT_COMMITTER_*", "PLAYWRIGHT_BROWSERS_PATH", "COVERAGE_PROCESS_START"),
)

# What goes with a PATH: of another one, it would name tools that are not found.
_WITH_PATH = (
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_SHLVL", "TZ"),
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "GOFLAGS"),
)
_LANGUAGE = ("LANG", "LANGUAGE", "LC_*")

# What a sandbox gets of it; others may lead to what is hidden.
_IN_SANDBOXES = (
    *("USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "EDITOR", "VISUAL", "PAGER"),
    *("LESS", "JAVA_HOME", "GOROOT", "RUSTUP_HOME", "CARGO_HOME", "NVM_DIR", "PYENV_ROOT"),
    *("VIRTUAL_ENV", "NO_COLOR", "CI"),
)

_LOGIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # as Debian's login

_NAMES = frozenset(name for name in PASSED_ON if "*" not in name)
_PATTERNS = tuple(name for name in PASSED_ON if "*" in name)


def inherited(more: str, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what sessions get of the daemon's environment; `more` is the setting session_env."""
    found = os.environ if environ is None else environ
    extra = tuple(name.strip() for name in more.split(",") if name.strip())
    return {
        name: value
        for name, value in found.items()
        if name in _NAMES
        or _is_like(name, _PATTERNS)
        or (_is_like(name, extra) and not name.startswith("NACRE_"))
    }


def of_caller(own: Mapping[str, str], more: str) -> dict[str, str]:
    """Return the environment of a session whose caller has these variables of its own.

    Without any, it is what the daemon passes on. HOME and the like are there in any case.
    """
    env = inherited(more)
    if "PATH" in own:  # else its environment is empty, or on another machine
        env = _without(env, _WITH_PATH)
        if any(_is_like(name, _LANGUAGE) for name in own):
            env = _without(env, _LANGUAGE)
    return {**_account(), **env, **own}


def login_shell() -> str:
    return _account()["SHELL"]


def _account() -> dict[str, str]:
    """Return what a login would set; cron and containers leave some of it out."""
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:  # a user id without a name, as containers may give
        return {"HOME": "/", "SHELL": "/bin/sh", "PATH": _LOGIN_PATH}
    named = {"HOME": entry.pw_dir, "USER": entry.pw_name, "LOGNAME": entry.pw_name}
    return {**named, "SHELL": entry.pw_shell or "/bin/sh", "PATH": _LOGIN_PATH}


def _without(env: Mapping[str, str], patterns: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, value in env.items() if not _is_like(name, patterns)}


def confined(env: Mapping[str, str]) -> dict[str, str]:
    """Return what of an environment a sandbox gets."""
    return {name: value for name, value in env.items() if _is_like(name, _IN_SANDBOXES)}


def _is_like(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
