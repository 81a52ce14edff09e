"""Shells whose marks a user's command takes away or gets in the way of: what run answers then.

Rule: an exit code is right, or None. After the command that did the harm, everything is as before.
"""

from dataclasses import replace
from signal import SIGINT
from typing import Any

from runs.corpus import (
    ASH,
    BASH,
    BOURNE,
    DASH,
    FISH,
    LONG_5K,
    ZSH,
    Case,
    Keys,
    Run,
    Screen,
    Signal,
    Step,
    Wait,
    asks,
    inner,
    leaves,
    opens,
    run,
)

# Whatever was done to the shell, these must come out.
AFTER: tuple[Step, ...] = (
    run("echo x; false", "x", 1, context="any"),
    run("sh -c 'exit 42'", code=42, context="any"),
    run("echo one\nsh -c 'exit 7'", "one", 7, context="any"),
    run("cd /usr; pwd", "/usr", context="any"),
    run("echo -n abc", "abc", context="any"),
    run("true", context="any"),
)


def harm(name: str, shells: tuple[str, ...], *commands: str, **more: Any) -> list[Case]:
    """Commands that do harm, all in one session, and what must come out after each of them."""
    steps: list[Step] = []
    for command in commands:
        steps += [hurting(command), *AFTER]
    return [Case(name, (shell,), tuple(steps), **more) for shell in shells]


def hurting(command: str) -> Run:
    """The command itself ends, whatever it takes away; its own code is right where it is known."""
    return run(command, None, None, ended_by=None)


def rc(text: str, shell: str = "bash") -> dict[str, str]:
    names = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}
    return {names[shell]: text}


_PS1 = "PS1='bash> '\n"

PROMPT_COMMANDS = [
    *harm(
        "source bashrc that puts a command first",
        BASH,
        "source ~/.bashrc",
        "source ~/.bashrc",
        files=rc(_PS1 + 'PROMPT_COMMAND="history -a; $PROMPT_COMMAND"\n'),
    ),
    *harm(
        "source bashrc that puts a command last",
        BASH,
        "source ~/.bashrc",
        "source ~/.bashrc",
        files=rc(_PS1 + 'PROMPT_COMMAND="$PROMPT_COMMAND; history -a"\n'),
    ),
    *harm(
        "source bashrc that replaces it",
        BASH,
        "source ~/.bashrc",
        "source ~/.bashrc",
        files=rc(_PS1 + "PROMPT_COMMAND='history -a'\n"),
    ),
    *harm("PROMPT_COMMAND replaced", BASH, "PROMPT_COMMAND='history -a'"),
    *harm("PROMPT_COMMAND unset", BASH, "unset PROMPT_COMMAND"),
    *harm("PROMPT_COMMAND empty", BASH, "PROMPT_COMMAND="),
    *harm("PROMPT_COMMAND an empty array", BASH, "PROMPT_COMMAND=()"),
    *harm("PROMPT_COMMAND another array", BASH, "PROMPT_COMMAND=(true false)"),
    *harm("PROMPT_COMMAND appended to", BASH, "PROMPT_COMMAND+='; history -a'"),
    *harm("PROMPT_COMMAND with an element more", BASH, "PROMPT_COMMAND+=(false)"),
    *harm("PROMPT_COMMAND that fails", BASH, "PROMPT_COMMAND='false'"),
    *harm(
        "PROMPT_COMMAND that changes the status",
        BASH,
        'f() { return 3; }; PROMPT_COMMAND="f; $PROMPT_COMMAND"',
    ),
    *harm("PROMPT_COMMAND with a syntax error", BASH, "PROMPT_COMMAND='if'"),
    *harm("PROMPT_COMMAND that prints", BASH, "PROMPT_COMMAND='echo from-the-prompt'"),
    *harm("PROMPT_COMMAND that sets PS1", BASH, "PROMPT_COMMAND='PS1=\"new> \"'"),
    *harm("PROMPT_COMMAND that sets PS1 by the status", BASH, "PROMPT_COMMAND='PS1=\"[$?]\\$ \"'"),
    *harm("PROMPT_COMMAND exported", BASH, "export PROMPT_COMMAND='history -a'"),
    *harm("PROMPT_COMMAND that ends in a semicolon", BASH, "PROMPT_COMMAND='history -a;'"),
    *harm("PROMPT_COMMAND that ends in a comment", BASH, "PROMPT_COMMAND='history -a # keep'"),
    *harm("PROMPT_COMMAND read-only", BASH, "readonly PROMPT_COMMAND='true'"),
    *harm(
        "git-prompt sourced later",
        BASH,
        '__git_ps1() { PS1="$1(main)$2"; }; PROMPT_COMMAND=\'__git_ps1 "\\u:\\w" "\\\\\\$ "\'',
    ),
    *harm(
        "git-prompt by substitution",
        BASH,
        "__git_ps1() { printf ' (main)'; }; PS1='\\w$(__git_ps1)\\$ '; PROMPT_COMMAND=",
    ),
]

PROMPTS = [
    *harm("PS1 replaced", BASH, "PS1='new> '", "PS1='other$ '"),
    *harm("PS1 and PROMPT_COMMAND replaced", BASH, "PS1='new> '; PROMPT_COMMAND='history -a'"),
    *harm("PS1 and PROMPT_COMMAND unset", BASH, "PS1='$ '; unset PROMPT_COMMAND"),
    *harm(
        "PS0, PS1, PS2 and PROMPT_COMMAND",
        BASH,
        "PS0= PS1='$ ' PS2='> '; PROMPT_COMMAND='history -a'",
    ),
    *harm("PS0 replaced", BASH, "PS0='starting\\n'"),
    *harm("PS0 unset", BASH, "unset PS0"),
    *harm("a virtualenv comes and goes", BASH, '_OLD=$PS1; PS1="(venv) $PS1"', "PS1=$_OLD"),
    *harm("PS1 of two lines", BASH, "PS1='\\u in \\w\\n\\$ '"),
    *harm("PS1 in colours", BASH, "PS1='\\[\\e[1;32m\\]\\u\\[\\e[0m\\]:\\w\\$ '"),
    *harm("PS1 with the status", BASH, "PS1='$? \\$ '"),
    *harm("PS1 read-only", BASH, "readonly PS1='ro> '"),
    *harm("PS1 exported", BASH, "export PS1='exp> '"),
    *harm("promptvars off", BASH, "shopt -u promptvars; PS1='$ '"),
    *harm("PS1 replaced in zsh", ZSH, "PS1='new> '", "PROMPT='%~ %# '"),
    *harm("a theme in zsh", ZSH, 'precmd() { PROMPT="%~ [$?] %# " }'),
    *harm("a virtualenv in zsh", ZSH, '_OLD=$PS1; PS1="(venv) $PS1"', "PS1=$_OLD"),
    *harm("prompt_subst in zsh", ZSH, "setopt prompt_subst; PS1='${PWD} $(echo x)> '"),
    *harm("prompt_percent off in zsh", ZSH, "unsetopt prompt_percent; PS1='plain> '"),
]

_OURS = "unset ${!__nacre_*}"

HOOKS = [
    *harm("precmd_functions emptied", ZSH, "precmd_functions=()"),
    *harm("preexec_functions emptied", ZSH, "preexec_functions=()"),
    *harm("both emptied", ZSH, "precmd_functions=() preexec_functions=()"),
    *harm(
        "both emptied and the prompt replaced",
        ZSH,
        "precmd_functions=() preexec_functions=(); PS1='new> '",
    ),
    *harm("both unset", ZSH, "unset precmd_functions preexec_functions"),
    *harm("hooks that fail", ZSH, "precmd() { false }; preexec() { false }"),
    *harm(
        "a hook that comes first", ZSH, "f() { return 3 }; precmd_functions=(f $precmd_functions)"
    ),
    *harm("zle-line-init replaced", ZSH, "zle-line-init() { : }; zle -N zle-line-init"),
    *harm(
        "zle-line-init replaced, hooks emptied",
        ZSH,
        "zle-line-init() { : }; zle -N zle-line-init; precmd_functions=() preexec_functions=()",
    ),
    *harm("options that change the language", ZSH, "setopt ksh_arrays sh_word_split"),
    *harm("emulate sh", ZSH, "emulate sh; PS1='sh> '"),
    *harm(
        "oh-my-zsh reloads",
        ZSH,
        "source ~/.zshrc",
        "source ~/.zshrc",
        files=rc(
            "PS1='z> '\nprecmd_functions=(); preexec_functions=()\n"
            "t() { PS1='%~ $ ' }\nprecmd_functions+=(t)\n",
            "zsh",
        ),
    ),
    *harm("all functions unset", BASH, "unset -f $(compgen -A function)"),
    *harm(
        "all functions unset, prompt replaced",
        BASH,
        "unset -f $(compgen -A function); PS1='new> '; PROMPT_COMMAND=",
    ),
    *harm(
        "functions over builtins",
        BASH,
        'printf() { echo fake; }; echo() { command echo "$@"; }; cd() { builtin cd "$@"; }',
    ),
    *harm("a function called printf", BOURNE, 'printf() { command printf "$@"; }'),
    *harm("a function called eval", BASH, "eval() { :; }"),
    *harm("a function called builtin", BASH, "builtin() { :; }"),
    *harm("a function called command", BASH, "command() { :; }; unset -f command"),
    *harm("a function called command that stays", BOURNE, "command() { echo fake; }"),
    *harm("a function called builtin that speaks", BASH + ZSH, "builtin() { echo fake; }"),
    *harm("a function called [", BASH, "function [ { echo fake; }"),
    *harm("a function called exit", BASH + ZSH, "exit() { echo fake; }"),
    *harm("a function called set", BASH + ZSH, "set() { echo fake; }"),
    *harm("a function called history", BASH, "history() { echo fake; }"),
    *harm("a function called stty", BOURNE, "stty() { echo fake; }"),
    *harm("aliases of what a wrapper needs", DASH + ASH, "alias command=echo '['=echo exit=echo"),
    *harm("eval and printf switched off", BASH, "enable -n eval printf"),
    *harm("printf alone switched off", BASH, "enable -n printf"),
    *harm("printf alone switched off", ZSH, "disable printf"),
    Case(
        "fish finds no programs",
        FISH,
        (
            run("set -g PATH /nowhere"),
            run("echo b\n/bin/sh -c 'exit 4'", "b", 4),
            run("echo $status", "4"),
        ),
    ),
    Case(
        "read switched off",
        BASH + ZSH,
        (
            run("case $BASH_VERSION in '') disable read;; *) enable -n read;; esac"),
            run(f"x={LONG_5K}\nsh -c 'exit 5'", "", 5),
            run("echo on", "on"),
        ),
    ),
    *harm("words that call builtins switched off", BASH, "enable -n builtin command"),
    *harm("eval switched off in zsh", ZSH, "disable eval"),
    *harm("eval and printf switched off in zsh", ZSH, "disable eval printf"),
    *harm("Enter that ends no line", BOURNE, "stty -icrnl", "stty icrnl"),
    *harm("no echo", BOURNE, "stty -echo", "stty echo"),
    *harm("all variables of ours unset", BASH, "unset ${!__nacre_*}"),
    *harm("variables, hooks and prompt at once", BASH, f"{_OURS} PROMPT_COMMAND PS0; PS1='x> '"),
    *harm(
        "functions, variables, hooks and prompt at once",
        BASH,
        f"unset -f $(compgen -A function); {_OURS} PROMPT_COMMAND PS0; PS1='x> '",
    ),
    *harm("all variables of ours unset in zsh", ZSH, "unset -m '*nacre*'"),
    *harm(
        "variables, hooks and prompt at once in zsh",
        ZSH,
        "unset -m '*nacre*'; PS1='q> '; precmd_functions=() preexec_functions=()",
    ),
    *harm("all functions unset in zsh", ZSH, "unfunction -m '*'"),
    *harm(
        "all functions of ours erased in fish",
        FISH,
        "for f in (functions -a -n | string split ,);"
        " string match -q '__nacre*' $f; and functions -e $f; end",
    ),
    *harm("hybrid keys in fish", FISH, "fish_hybrid_key_bindings"),
    *harm(
        "aliases over builtins", BOURNE, "alias printf='echo fake' eval='echo fake' set='echo fake'"
    ),
    *harm("standard output away", BASH + ZSH, "exec 3>&1; exec >/dev/null; exec >&3"),
    *harm("a DEBUG trap that notes the command", BASH, "trap 'last=$BASH_COMMAND' DEBUG"),
    *harm("a DEBUG trap with extdebug", BASH, "shopt -s extdebug; trap ':' DEBUG"),
    *harm("an ERR trap", BASH + ZSH, "trap ':' ERR"),
    *harm("an EXIT trap", BOURNE, "trap ':' EXIT"),
    *harm("nounset", BOURNE, "set -u"),
    *harm("noglob and an odd IFS", BOURNE, "set -f; IFS=0m4"),
    *harm("posix mode before and after", BASH, "set -o posix"),
    *harm("no history", BASH, "set +o history"),
    *harm("fish_prompt replaced", FISH, "function fish_prompt; echo -n 'new> '; end"),
    *harm(
        "fish_prompt replaced twice",
        FISH,
        "function fish_prompt; echo -n 'a> '; end",
        "function fish_prompt; echo -n 'b> '; end",
    ),
    *harm("fish's hooks erased", FISH, "functions -e __nacre_preexec __nacre_postexec"),
    *harm(
        "fish's hooks and prompt",
        FISH,
        "functions -e __nacre_preexec __nacre_postexec __nacre_wrap; "
        "function fish_prompt; echo -n 'new> '; end",
    ),
    *harm(
        "fish's config again",
        FISH,
        "source ~/.config/fish/config.fish",
        files=rc('function fish_prompt; echo -n "$status> "; end\n', "fish"),
    ),
]

_EMPTY = "precmd_functions=() preexec_functions=()"
CODES = [
    Case(
        "the code of a command that takes the marks away",
        ZSH,
        (
            run(f"PS1='q> '; {_EMPTY}; sh -c 'exit 9'", "", 9),
            run(f"PS1='r> '; {_EMPTY}", "", 0),
            run(f"setopt promptsubst; PS1='$(false)s> '; {_EMPTY}; sh -c 'exit 7'", "", 7),
            *AFTER,
        ),
    ),
    Case(
        "no code where a widget of the user's has changed it",
        ZSH,
        (
            run(
                "zle-line-init() { false }; zle -N zle-line-init;"
                f"PS1='q> '; {_EMPTY}; sh -c 'exit 9'",
                "",
                None,
            ),
            *AFTER,
        ),
    ),
    Case(
        "the code where a widget of the user's fails",
        ZSH,
        (run(f"PS1='q> '; {_EMPTY}; sh -c 'exit 9'", "", 9), *AFTER),
        rc("PS1='zsh> '\nzle-line-init() { false }\nzle -N zle-line-init\n", "zsh"),
    ),
    Case(
        "the code of a command that takes the marks away in bash",
        BASH,
        (
            run("unset PROMPT_COMMAND; PS1='q> '; sh -c 'exit 9'", "", 9),
            run("unset PROMPT_COMMAND; PS1='$(false)r> '; sh -c 'exit 8'", "", 8),
            *AFTER,
        ),
    ),
]

# zsh itself tells 0 in most tries of this: see the trap in its script.
_LOOP = run(
    "while :; do x=1; done", None, None, status="timeout", ended_by="deadline", timeout_ms=100
)
_FISH_LOOP = replace(_LOOP, command="while true; end", timeout_ms=300)
_SAVES = """@python@ -c '
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(3))
print("begun", flush=True)
signal.pause()
'"""

# What is not known for sure is not told; what is told is what a plain shell would tell.
UNSURE = [
    Case(
        "Ctrl+C in a loop of builtins",
        ZSH,
        (
            *(
                step
                for cut in (Keys(b"\x03"), Signal(SIGINT), Signal(SIGINT, by_others=True)) * 2
                for step in (_LOOP, cut, Wait(output=None, code=130))
            ),
            run("trap", ""),
            *(_LOOP, Keys(b"\x03"), Wait(output=None, code=(None, 130))),
            run("echo on", "on"),
            run(_SAVES, None, None, status="timeout", ended_by="deadline", timeout_ms=100),
            Keys(b"\x03", after="\nbegun"),
            Wait(output=None, code=3),
        ),
    ),
    Case(
        "Ctrl+C in a loop of builtins, whose code fish does not tell",
        FISH,
        (
            run("echo ready", "ready"),
            *(_FISH_LOOP, Keys(b"\x03"), Wait(output=None, code=None)),
            *(_FISH_LOOP, Signal(SIGINT), Wait(output=None, code=None)),
            run("echo on", "on"),
        ),
    ),
    Case(
        "no descriptors to put others aside",
        ZSH,
        (
            run("ulimit -n 10"),
            run("echo x; false", "x", 1),
            run("sh -c 'exit 42'", code=42),
            run("echo y", "y"),
            run("echo one\nfalse", None, None, context="any"),
        ),
    ),
    *harm(
        "variables of ours with a type",
        BASH + ZSH,
        "typeset -u _nacre_c",
        "typeset -i _nacre_c",
        "typeset -i __nacre_told",
    ),
    *harm(
        "read-only variables of common names",
        BASH,
        "readonly begin end more start each line others; PROMPT_COMMAND=; PS1='% '",
    ),
    *harm("local variables of our names", FISH, "set -l _nacre_c q; set -l _nacre_s q"),
    Case(
        "a variable of ours read-only",
        BASH + ZSH,
        (
            run("readonly _nacre_c"),
            run("echo one\nsh -c 'exit 7'", "", None),
            run("echo x", "x"),
        ),
    ),
    Case(
        "a variable of ours read-only, in no output",
        BASH + ZSH,
        (run("readonly __nacre_line __nacre_told"), run("echo x", "x"), run("echo y", "y")),
    ),
    Case(
        "an ERR trap fires as often as in a plain shell",
        BASH,
        (
            run("trap 'echo ERR' ERR"),
            run("false\nfalse", "ERR\nERR", 1),
            run("false\necho a\nsh -c 'exit 4' # last", "ERR\na\nERR", 4),
            run("false\ntrue", "ERR"),
            run("cat <<E\nhi\nE\nfalse", "hi\nERR", 1),
            run("set -v"),
            run("true\nfalse", "true\nfalse\necho ERR\nERR", 1),
            run("set +v"),
            run("echo a\nset -x\ntrue", "a\n++ true"),
            run("true\nfalse", None, 1, has=("+++ echo ERR\nERR",), lacks=("ERR\n++",)),
            run("set +x", None),
            leaves("set -e\ntrue\nfalse\necho not here", "ERR", 1, context="any"),
        ),
    ),
    *harm("vi's commands without vi mode", BASH, "bind 'set keymap vi'"),
    Case(
        "precmd_functions read-only from the rc file on",
        ZSH,
        (run("echo x", "x"), run("false", code=1), run("echo a\nfalse", "a", 1)),
        rc("PS1='zsh> '\nreadonly precmd_functions\n", "zsh"),
    ),
    Case(
        "PROMPT_COMMAND read-only from the rc file on",
        BASH,
        (run("echo x", "x"), run("false", code=1), run("echo a\nfalse", "a", 1)),
        rc(_PS1 + "readonly PROMPT_COMMAND='echo from-the-prompt'\n"),
    ),
    Case(
        "set -k from the rc file on",
        BASH,
        (run("echo x", "x"), run("false", code=1), run("echo a\nfalse", "a", 1)),
        rc(_PS1 + "set -k\n"),
    ),
    Case(
        "a function called break and a long command",
        BASH + ZSH,
        (
            run("break() { echo fake; }"),
            run("false", code=1),
            run(f"x={LONG_5K}\nsh -c 'exit 5'", "", 5),
            run("echo on", "on"),
        ),
    ),
]

_OVER_BUILTINS = "; ".join(f"{name}() {{ echo fake; }}" for name in ("read", "break", "set"))
BEHIND_SSH = [
    *(
        Case(
            f"functions over builtins in {shell} behind ssh",
            BASH,
            (
                opens(f"@ssh@ -t {shell}"),
                inner(defines),
                inner("echo x; false", "x", 1),
                inner(f"x={LONG_5K}\nsh -c 'exit 5'", "", 5),
                inner("echo on", "on"),
            ),
        )
        for shell, defines in (
            ("bash --norc", _OVER_BUILTINS),
            ("zsh -f", _OVER_BUILTINS),
            ("busybox sh", "read() { echo fake; }"),
        )
    ),
    Case(
        "a function called builtin in zsh behind ssh",
        BASH,
        (
            opens("@ssh@ -t zsh -f"),
            inner("builtin() { echo fake; }"),
            inner("echo x; false", "x", 1),
        ),
    ),
    Case(
        "a DEBUG trap that prints, in zsh behind ssh",
        BASH,
        (
            opens("@ssh@ -t zsh -f"),
            inner("trap 'echo D' DEBUG", None),
            inner("echo x; (exit 3)", None, 3, has=("\nx\n",)),
        ),
    ),
]

UNDONE = [
    Case(
        "what was printed before the prompt stays when the shell is asked",
        BASH,
        (
            run("printf hi; unset PROMPT_COMMAND; PS1='% '", "hi"),
            run("echo x; false", "x", 1),
            run("printf 'a\\nb'; unset PROMPT_COMMAND; PS1='one\\ntwo> '; (exit 3)", "a\nb", 3),
            run("true", ""),
        ),
    ),
    Case(
        "fish without our variables",
        FISH,
        (
            run("set -e __nacre_nonce", ""),
            run("echo x; false", "x", 1),
            run("true; set -g __nacre_nonce abc", ""),
            run("echo x; false", "x", 1),
            run("for v in (set -n | string match '__nacre*'); set -e $v; end", ""),
            run("functions -e __nacre_postexec __nacre_preexec", ""),
            run("printf hi; false", "hi", 1),
            run("true", ""),
        ),
    ),
    Case(
        "fish without a prompt of its own",
        FISH,
        (
            run("functions -e fish_prompt", ""),
            run("echo x; false", "x", 1),
            Screen(has=("> echo x; false",), lacks=("nacre",)),
        ),
    ),
    Case(
        "a wrapper that is not understood locks nobody out",
        BASH,
        (
            hurting("builtin() { :; }; command() { :; }"),
            run("true", None, None),  # wrapped, since the marks are gone, and not understood
            run("sh -c 'exit 42'", None, 42),
            run("unset -f builtin command", None),
            *AFTER,
        ),
    ),
]

READS = [
    Case(
        "read -e with the prompt of the shell",
        BASH,
        (
            asks("read -e -p 'bash> ' x; echo got $x", "line", "bash>"),
            Keys(b"a\r", shows="got a"),
            run("echo on", "on", context="any"),  # the mark of its prompt may be on its way
        ),
    ),
    Case(
        "read -e in a later line of a command",
        BASH,
        (
            asks("true\nread -e x\necho got $x\n(exit 3)", "line", ""),
            Keys(b"a\r", shows="got a"),
            run("echo on", "on"),
        ),
    ),
]

TRACED = [
    Case(
        "set -x shows the command alone",
        BASH,
        (
            run("set -x", ""),
            run("echo a", "+ echo a\na"),
            run("false", "+ false", 1),
            run("set +x", "+ set +x"),
            run("echo on", "on"),
            Screen(has=("on",), lacks=("_nacre", "133;")),
        ),
    ),
    Case(
        "set -x with a prompt command",
        BASH,
        (
            run("set -x", None),
            run("echo a", "+ echo a\na"),
            run("false", "+ false", 1),
            run("set +x", "+ set +x"),
            run("echo on", "on"),
            Screen(has=("on",), lacks=("_nacre", "133;")),
        ),
        rc(_PS1 + "PROMPT_COMMAND='history -a'\n"),
    ),
    Case(
        "set -x over several lines",
        BOURNE,
        (
            run("set -x", None),
            run(
                "echo a\nfalse", None, 1, has=("echo a", "\na\n", "false"), lacks=("_nacre", "133;")
            ),
            run("set +x", None),
            run("echo on", "on"),
            Screen(has=("on",), lacks=("_nacre", "133;")),
        ),
    ),
    Case(
        "set -x in zsh",
        ZSH,
        (
            run("PS4='+ '; set -x", ""),
            run("echo a", "+ echo a\na"),
            run("false", "+ false", 1),
            run("set +x", "+ set +x"),
            run("echo on", "on"),
            Screen(has=("on",), lacks=("_nacre", "133;")),
        ),
    ),
    Case(
        "set -v",
        BASH,
        (
            run("set -v", ""),
            run("echo a", "a"),
            run("printf hi; false", "hi", 1),
            run("set +v", ""),
            run("echo on", "on"),
            Screen(has=("on",), lacks=("133;", "nacre")),
        ),
    ),
    Case(
        "set -v in the rc file, and the shell is asked",
        BASH,
        (
            run("echo a", "a"),
            hurting("PROMPT_COMMAND=; PS1='% '"),
            run("echo b; false", None, 1, has=("b",), lacks=("nacre",)),
            Screen(has=("b",), lacks=("133;", "nacre")),
        ),
        rc(_PS1 + "set -v\n"),
    ),
    Case(
        "set -v in zsh",
        ZSH,
        (
            run("set -v", None, lacks=("133;",)),
            run("echo a", None, has=("a",), lacks=("133;",)),
            run("false", None, 1),
            run("set +v", None),
            run("echo on", "on"),
        ),
    ),
    Case(
        "an ERR trap fires for the command",
        BASH,
        (
            run("trap 'echo ERR' ERR"),
            run("false", "ERR", 1),
            run("true"),
            run("true\ntrue"),
            run("sh -c 'exit 3'", "ERR", 3),
            run("true\ntrue"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "an ERR trap that fires once",
        BASH,
        (
            run("trap 'echo ERR; trap - ERR' ERR"),
            run("true\ntrue"),
            run("true\nfalse", "ERR", 1),
            run("true\nfalse", "", 1),
            run("echo on", "on"),
        ),
    ),
    Case(
        "what a trap prints is no part of the command",
        ZSH,
        (
            run("TRAPEXIT() { print bye; }"),
            run("echo one\nsh -c 'exit 3'", "one", 3),
            run(f"x={LONG_5K}\nsh -c 'exit 4'", "", 4),
            run("unfunction TRAPEXIT; trap 'print -n ,' DEBUG", None),
            run("true\nsh -c 'exit 5'", None, 5, lacks=("not found",)),
            run(f"x={LONG_5K}\nsh -c 'exit 6'", None, 6, lacks=("not found",)),
        ),
    ),
    Case(
        "what a trap prints is no part of a long command",
        BASH,
        (
            run("set -T; trap 'printf ,' DEBUG", None),
            run(f"x={LONG_5K}\nsh -c 'exit 6'", None, 6, lacks=("not found",)),
        ),
    ),
    Case(
        "what a trap prints is no part of the command, behind ssh",
        BASH,
        (
            opens("@ssh@ -t zsh -f"),
            inner("TRAPEXIT() { print bye; }"),
            inner("echo one\nsh -c 'exit 3'", "one", 3),
        ),
    ),
    Case(
        "what a prompt command prints is no output",
        BASH,
        (
            run("echo a", "a"),
            run("false", "", 1),
            run('PROMPT_COMMAND="true; $PROMPT_COMMAND"', ""),
            run("echo b", "b"),
        ),
        rc(_PS1 + "PROMPT_COMMAND='echo from-the-prompt'\n"),
    ),
]

VI = [
    Case(
        "vi mode after Escape",
        BASH,
        (
            run("set -o vi"),
            run("echo hello", "hello"),
            Keys(b"\x1b"),
            run("echo hello", "hello"),
            Keys(b"abc\x1b"),
            run("echo hello", "hello"),
            Keys(b"\x1b0"),
            run("echo a\nfalse", "a", 1),
            run("set -o emacs"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "vi mode from inputrc",
        BASH,
        (
            run("echo hello", "hello"),
            Keys(b"\x1b"),
            run("echo hello", "hello"),
        ),
        {".inputrc": "set editing-mode vi\n"},
    ),
    Case(
        "vi mode after Escape in zsh",
        ZSH,
        (
            run("bindkey -v"),
            run("echo hello", "hello"),
            Keys(b"\x1b"),
            run("echo hello", "hello"),
            Keys(b"abc\x1b"),
            run("echo hello", "hello"),
            run("bindkey -e"),
            run("echo on", "on"),
        ),
    ),
    Case(
        "vi mode after Escape in fish",
        FISH,
        (
            run("fish_vi_key_bindings"),
            run("echo hello", "hello"),
            Keys(b"\x1b"),
            run("echo hello", "hello"),
            run("fish_default_key_bindings"),
            run("echo on", "on"),
        ),
    ),
]

MARKS = [
    *PROMPT_COMMANDS,
    *PROMPTS,
    *HOOKS,
    *CODES,
    *UNSURE,
    *BEHIND_SSH,
    *UNDONE,
    *READS,
    *TRACED,
    *VI,
]
