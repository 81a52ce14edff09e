"""Shells as prompt frameworks and tools leave them: what run answers there.

Each rc file here is our own, and hooks into its shell in the way that the tool of its name was seen
to: which variables it changes and when, what it prints, which keys and widgets it takes.

Rule 1: an exit code is right, an output has nothing of the framework in it.
Rule 2: every shape goes through the same four sessions: plain commands, keys between them, its rc
file read again, and a narrow terminal.
"""

from dataclasses import dataclass, field

from runs.corpus import (
    BASH,
    FISH,
    SLEEPS,
    ZSH,
    Case,
    Keys,
    Run,
    Step,
    Wait,
    asks,
    inner,
    leaves,
    opens,
    run,
)
from runs.corpus_marks import hurting, rc

_SOURCE = {
    "bash": "source ~/.bashrc",
    "zsh": "source ~/.zshrc",
    "fish": "source ~/.config/fish/config.fish",
}
_BAD_LINE: dict[str, Run] = {
    "bash": run("fi", "bash: syntax error near unexpected token `fi'", 2),
    "zsh": run("fi", "zsh: parse error near `fi'", 1),
    "fish": run("echo )", None, 127, has=("Unexpected ')'",)),
}
_LOOP = {"fish": "for i in 1 2\n  echo $i\nend"}
_WIDE = "abcdefghij" * 12

CODES: tuple[Step, ...] = (
    run("echo x; false", "x", 1),
    run("sh -c 'exit 42'", code=42),
    run("echo one\nsh -c 'exit 7'", "one", 7),
    run("true"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """How a tool shapes a shell."""

    name: str
    shell: str
    text: str
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    again: bool = True  # its rc file may be read twice

    def cases(self) -> list[Case]:
        sessions = {
            "plain": (_plain(self.shell), 80),
            "keys": (_keys(self.shell), 80),
            "narrow": (_narrow(self.shell), 40),
        }
        if self.again:
            sessions["again"] = (_again(self.shell), 80)
        files = {**rc(self.text, self.shell), **self.files}
        return [
            Case(f"{self.name}, {name}", (self.shell,), steps, files, self.env, cols=cols)
            for name, (steps, cols) in sessions.items()
        ]


def _plain(shell: str) -> tuple[Step, ...]:
    return (
        run("false", code=1),  # the first of all, right after the start
        *CODES,
        run(_LOOP.get(shell, "for i in 1 2; do\n  echo $i\ndone"), "1\n2"),
        run("cd /usr", cwd="/usr"),
        run("pwd", "/usr", cwd="/usr"),
        run("printf abc", "abc"),
        run("echo 'a!b'", "a!b"),
        _BAD_LINE[shell],
        run("echo on", "on"),
        run("seq 40", "\n".join(map(str, range(1, 41)))),
        run("false", code=1),
    )


def _keys(shell: str) -> tuple[Step, ...]:
    """Nothing waits between a key and the next command: the shell has it all to read at once."""
    return (
        Keys(b"\r"),
        run("echo a", "a"),
        Keys(b"\r\r\r"),
        run("sh -c 'exit 3'", code=3),
        Keys(b"\x03"),  # it may meet the prompt half drawn, and take its marks away
        run("echo b; false", "b", 1, context="any"),
        Keys(b"half a line"),
        run("echo c", "c"),
        Keys(b"another\x03"),
        run("echo d\nfalse", "d", 1, context="any"),
        Keys(b"false\r"),
        run("echo e", "e"),
        run(SLEEPS, None, None, status="timeout", ended_by="deadline", timeout_ms=100),
        Keys(b"\x03", after="\nbegun"),
        Wait(output=None, code=130),
        run("echo f", "f"),
        run("sh -c 'kill -INT $$'", None, 130),
        hurting("sleep 0 &"),  # in fish it leaves the exit code as it was
        run("sleep 0.05", None),
        run("echo g", None, has=("g",)),  # and perhaps the job's notice
        run("false", code=1),
    )


def _again(shell: str) -> tuple[Step, ...]:
    again = hurting(_SOURCE[shell])
    return (
        run("true"),
        *(again, *CODES, _BAD_LINE[shell]),
        *(again, *CODES, _BAD_LINE[shell]),
        Keys(b"\r"),
        run("echo on", "on"),
    )


def _narrow(shell: str) -> tuple[Step, ...]:
    return (
        *CODES,
        run(f"echo {_WIDE}", _WIDE),
        run(f"echo {_WIDE}\nfalse", _WIDE, 1),
        Keys(b"some words that are longer than the terminal is wide, so that they wrap"),
        run("echo on", "on"),
        Keys(b"\x03"),
        run("printf abc; false", "abc", 1, context="any"),
    )


def bash(name: str, text: str, **more: object) -> Shape:
    return Shape(name, "bash", text, **more)  # type: ignore[arg-type]


def zsh(name: str, text: str, **more: object) -> Shape:
    return Shape(name, "zsh", text, **more)  # type: ignore[arg-type]


def fish(name: str, text: str, **more: object) -> Shape:
    return Shape(name, "fish", text, **more)  # type: ignore[arg-type]


# --- bash ----------------------------------------------------------------------------------------

# It installs itself at the first prompt: a DEBUG trap that fires before a command, and prompt
# commands between two words of its own, of which the last says that a user's command comes next.
_PREEXEC = r"""
precmd_functions=() preexec_functions=() __bp_interactive=
__bp_precmd() { __bp_code=$?; local f
    for f in "${precmd_functions[@]}"; do (exit $__bp_code); "$f"; done; return $__bp_code; }
__bp_interactive_mode() { __bp_interactive=on; }
__bp_debug() { local f; [[ -n $COMP_LINE || -z $__bp_interactive ]] && return
    [[ $BASH_COMMAND == __bp_* || $BASH_COMMAND == *__nacre_p* ]] && return
    __bp_interactive=; for f in "${preexec_functions[@]}"; do "$f" "$BASH_COMMAND"; done; }
__bp_install() { local before=$PROMPT_COMMAND; before=${before//__bp_install;/}
    trap '__bp_debug' DEBUG
    PROMPT_COMMAND=$'__bp_precmd\n'"$before"$'\n__bp_interactive_mode'; __bp_precmd
    __bp_interactive_mode; }
PROMPT_COMMAND="__bp_install;$PROMPT_COMMAND"
"""

_BASH = (
    bash("bash-preexec", "PS1='$ '\n" + _PREEXEC),
    bash(
        "bash-preexec with hooks",
        "PS1='$ '\n" + _PREEXEC + "started() { last=$1; }\nended() { code=$?; false; }\n"
        "preexec_functions+=(started) precmd_functions+=(ended)\n",
    ),
    bash(
        "starship",  # PS1 is printed anew by a program, PS0 measures, the old commands run inside
        r"""
star_precmd() { local code=$?; (exit $code); eval "$STAR_BEFORE"; PS1=$(star "$code"); ready=1; }
star() { printf '\n\\[\e[1;36m\\]%s\\[\e[0m\\] via \\[\e[33m\\]py\\[\e[0m\\]\n❯ ' "${PWD##*/}"; }
PS0='${begun:$((begun=SECONDS,0)):0}'$PS0 PS2='∙ '
STAR_BEFORE=$PROMPT_COMMAND PROMPT_COMMAND=star_precmd
""",
        again=False,
    ),
    bash(
        "starship read again",
        r"""
star_precmd() { local code=$?
    if [[ -n ${STAR_BEFORE-} ]]; then eval "$STAR_BEFORE"; fi; PS1="[$code] ❯ "; }
if [[ $PROMPT_COMMAND != *star_precmd* ]]; then
    STAR_BEFORE=$PROMPT_COMMAND PROMPT_COMMAND=star_precmd
fi
""",
    ),
    bash(
        "oh-my-bash",
        r"""
shopt -s histverify checkwinsize cmdhist; HISTTIMEFORMAT='%F ' PROMPT_DIRTRIM=2
theme() { PS1="\[\e[32m\]\u \[\e[34m\]\w\[\e[0m\]$(printf ' (%s)' main) \[\e[31m\]→\[\e[0m\] "; }
[[ " ${PROMPT_COMMAND[*]} " == *' theme '* ]] || PROMPT_COMMAND+=(theme)
alias cd..='cd ..' ls='ls --color=auto'; cd() { builtin cd "$@" && :; }
""",
    ),
    bash(
        "bash-it",
        _PREEXEC
        + r"""
append() { case ";$PROMPT_COMMAND;" in *";$1;"*) ;;
    *) PROMPT_COMMAND="${PROMPT_COMMAND:+$PROMPT_COMMAND;}$1";; esac; }
left() { local code=$?; PS1="\[\e[0;37;44m\] \u \[\e[0m\] ${PWD/#$HOME/\~} "; PS1+="[$code]\n❯ "
    return 0; }
append left; precmd_functions+=(left)
""",
    ),
    bash(
        "liquidprompt",  # promptvars are off: nothing in PS1 is expanded
        r"""
load() { echo 0.42; }
lp() { local code=$?; PS1="⌂$(load) [\[\e[1m\]\u\[\e[0m\]:\w] "; ((code)) && PS1+="$code "
    PS1+='\$ '; }
shopt -u promptvars; trap 'begun=$SECONDS' DEBUG
before=$PROMPT_COMMAND; PROMPT_COMMAND=lp
""",
    ),
    bash(
        "liquidprompt turned off",
        "PS1='$ '; shopt -u promptvars; PROMPT_COMMAND='history -a 2>/dev/null'\n",
    ),
    bash(
        "direnv",
        r"""
PS1='$ '
hook() { local code=$?; trap -- '' SIGINT; eval "$(echo 'export SEEN=$PWD')"; trap - SIGINT
    return $code; }
if [[ ";${PROMPT_COMMAND[*]};" != *';hook;'* ]]
    then PROMPT_COMMAND="hook${PROMPT_COMMAND:+;$PROMPT_COMMAND}"; fi
""",
    ),
    bash(
        "direnv that says what it loads",
        r"""
PS1='$ '
hook() { local code=$?; echo 'direnv: loading .envrc' >&2; return $code; }
PROMPT_COMMAND="hook;$PROMPT_COMMAND"
""",
        again=False,
    ),
    bash(
        "conda",
        r"""
PS1='\u:\w\$ '
conda() { eval "$(printf "PS1='(base) %s'; export CONDA_SHLVL=1" "${PS1#(base) }")"; }
conda activate
""",
    ),
    bash(
        "nvm",
        r"""
PS1='\W\$ '
cdnvm() { command cd "$@" || return $?; local found; found=$(find . -maxdepth 0 -name .nvmrc)
    [[ -z $found ]] || echo "$found"; }
alias cd='cdnvm'; cdnvm "$PWD" || :
""",
    ),
    bash(
        "mise",
        r"""
PS1='\w\$ '
m_hook() { local code=$?; eval "$(printf 'export M_AT=%q' "$PWD")"; return $code; }
m_prompt() { m_hook; local code=$?; local f; for f in "${chpwd_functions[@]}"; do "$f"; done
    return $code; }
mise() { command true "$@"; }; chpwd_functions=(m_hook)
command_not_found_handle() { echo "$1: not here"; return 127; }
[[ $PROMPT_COMMAND == *m_prompt* ]] || PROMPT_COMMAND="m_prompt;${PROMPT_COMMAND:-}"
""",
    ),
    bash(
        "asdf",
        r"""
PS1='$ '
asdf() { case $1 in shell) eval "$(echo :)";; esac; }
export PATH="$HOME/.asdf/shims:$PATH"
""",
    ),
    bash(
        "virtualenv",
        r"""
PS1='\u\$ '
deactivate() { [[ -z ${OLD_PS1+x} ]] || { PS1=$OLD_PS1; unset OLD_PS1; }; hash -r; }
deactivate; OLD_PS1=${PS1-}; PS1="(venv) ${PS1-}"; hash -r
""",
    ),
    bash(
        "zoxide",
        r"""
PS1='$ '; shopt -s extglob
z_hook() { local -r code=$?; local now; now=$(pwd -L); [[ ${z_was-} == "$now" ]] || z_was=$now
    return "$code"; }
z_doctor() { [[ ${PROMPT_COMMAND[*]-} == *z_hook* ]] || echo 'z: its hook is gone'; }
cd() { z_doctor; builtin cd "$@"; }
[[ ${PROMPT_COMMAND[*]} == *z_hook* ]] ||
    PROMPT_COMMAND="${PROMPT_COMMAND%%*([[:space:];])}${PROMPT_COMMAND:+;}z_hook"
""",
    ),
    bash(
        "fzf",
        r"""
PS1='$ '
bind -m emacs-standard -x '"\C-t": READLINE_LINE+=x' 2>/dev/null
bind -m emacs-standard '"\er": redraw-current-line'
bind -m emacs-standard '"\C-r": " \C-e\C-u\C-y\ey\C-u`history`\e\C-e\er"'
""",
    ),
    bash(
        "atuin",
        "PS1='$ '\n"
        + _PREEXEC
        + r"""
A_ID=; a_pre() { A_ID=$(echo id); }; a_post() { local code=$?; [[ -n $A_ID ]] || return
    (: "$code" &); A_ID=; }
preexec_functions+=(a_pre) precmd_functions+=(a_post)
    bind -x '"\C-r": READLINE_LINE=' 2>/dev/null
""",
    ),
    bash(
        "thefuck",
        r"""
PS1='$ '
fuck() { local h; h=$(fc -ln -10); eval "$(echo :)"; history -s "$*"; }
export TF_ALIAS=fuck
""",
    ),
    bash(
        "kitty",  # takes away all between its own marks, and puts them around again, last of all
        r"""
PS1='\u@\h in \w\n\$ '
k_prompt() { PS1=${PS1//\\\[\\e\]133;k;one\\a\\\]*two\\a\\\]}
    PS0=${PS0//\\\[\\e\]133;k;one\\a\\\]*two\\a\\\]}
    PS1='\[\e]133;k;one\a\]\[\e]133;D;$?\a\e]133;A\a\]\[\e]133;k;two\a\]'"$PS1"
    PS0='\[\e]133;k;one\a\]\e]133;C\a\e]2;title\a\[\e]133;k;two\a\]'"$PS0"
    builtin printf '\e]7;kitty-shell-cwd://host%s\a' "$PWD"; }
[[ ${PROMPT_COMMAND[*]} == *k_prompt* ]] ||
    PROMPT_COMMAND="${PROMPT_COMMAND:+$PROMPT_COMMAND; }k_prompt"
""",
    ),
    bash(
        "iTerm2",  # its marks come from functions that PS1 calls; its own commands are in a trap
        r"""
PS1='\h:\w\$ '
i_prefix() { printf '\e]133;D;%s\a\e]133;A\a' "$i_code"; }
i_suffix() { printf '\e]133;B\a'; }
i_prompt() { i_code=$?; printf '\e]1337;CurrentDir=%s\a' "$PWD"
    if [[ $PS1 != "$i_was" ]]; then PS1="\[\$(i_prefix)\]$PS1\[\$(i_suffix)\]"; i_was=$PS1; fi
    return $i_code; }
trap 'printf "\e]133;C;\a"' DEBUG; PROMPT_COMMAND="i_prompt;$PROMPT_COMMAND"
""",
    ),
    bash(
        "VS Code",  # its function takes PROMPT_COMMAND's place and runs what was there
        r"""
PS1='\u:\w\$ '
v_pre() { [[ $v_on == 0 ]] && { v_on=1; builtin printf '\e]633;E;%s\a\e]633;C\a' "$BASH_COMMAND"
    }; }
v_update() { if [[ $v_on == 1 ]]; then
    if [[ -z $v_mine || $v_mine != "$PS1" ]]; then v_mine='\[\e]633;A\a\]'"$PS1"'\[\e]633;B\a\]'
    PS1=$v_mine; fi; v_on=0; fi; }
v_back() { return "$1"; }
v_prompt() { v_code=$?; v_back $v_code; local c; for c in "${v_before[@]}"; do eval "$c"; done
    builtin printf '\e]633;D;%s\a\e]633;P;Cwd=%s\a' "$v_code" "$PWD"; v_update; }
v_on=1 v_mine=; trap 'v_pre "$_"' DEBUG
v_before=${PROMPT_COMMAND:-}; [[ $v_before == v_prompt ]] && v_before=; PROMPT_COMMAND=v_prompt
""",
    ),
    bash(
        "VTE",
        r"""
vte() { local code=$?; printf '\e]7;file://host%s\e\\' "$PWD"; return $code; }
PS1='\[\e]133;D;$?\e\\\e]133;A\e\\\]\u\$ \[\e]133;B\e\\\]'; PS0='\e]133;C\e\\'
PROMPT_COMMAND=(vte)
""",
    ),
    bash(
        "Ghostty",  # marks that come and go with each prompt
        r"""
PS1='\u\$ '
g_pre() { PS0=${PS0/'\e]133;C;\a'}; }
g_cmd() { local code=$?; if [[ $g_in != 0 ]]
    then PS1='\[\e]133;A;cl=line\a\]'$PS1'\[\e]133;B\a\]'; PS2='\[\e]133;A;k=s\a\]'$PS2; fi
    [[ -z $g_in ]] || builtin printf '\e]133;D;%s;aid=%s\a' "$code" "$BASHPID"; g_in=0; }
[[ ${PROMPT_COMMAND[*]} == *g_cmd* ]] || PROMPT_COMMAND+=(g_cmd)
""",
    ),
    bash(
        "WezTerm",
        _PREEXEC
        + r"""
PS1='\u\$ '
w_pre() { [[ $w_last == "$PS1" ]] || { w_last="\[\e]133;P;k=i\a\]$PS1\[\e]133;B\a\]"
    PS1=$w_last; }; }
w_cmd() { local code=$?; printf '\e]133;D;%s;aid=%s\a\e]133;A;cl=m;aid=%s\a' "$code" $$ $$; }
w_run() { printf '\e]133;C;\a'; }
precmd_functions+=(w_cmd w_pre) preexec_functions+=(w_run)
""",
    ),
    bash(
        "bash-completion",
        r"""
PS1='$ '
shopt -s progcomp extglob
_c() { COMPREPLY=(one two); }
complete -F _c seq echo
complete -D -F _c
""",
    ),
    bash(
        "git-prompt by PROMPT_COMMAND",
        r"""
__git_ps1() { local code=$?; PS1="$1 (main *)$2"; return $code; }
PROMPT_COMMAND='__git_ps1 "\u:\w" "\\\$ "'
""",
    ),
    bash(
        "git-prompt by substitution",
        r"""
__git_ps1() { local code=$?; printf "$1" main; return $code; }
PS1='\W$(__git_ps1 " (%s)")\$ '
""",
    ),
    bash(
        "powerline-shell",
        r"""
update() { PS1="$(printf '\\[\e[44m\\] %s \\[\e[0m\\] ' "$?")"; }
PROMPT_COMMAND="update; $PROMPT_COMMAND"
""",
    ),
    bash(
        "a timer in a DEBUG trap",
        r"""
start() { timer=${timer:-$SECONDS}; }
stop() { took=$((SECONDS - timer)); unset timer; PS1="${took}s \$ "; }
trap 'start' DEBUG
PROMPT_COMMAND=stop
""",
    ),
    bash(
        "a title in a DEBUG trap",
        r"""
PS1='\[\e]0;\u: \w\a\]\$ '
trap 'printf "\e]0;%s\a" "$BASH_COMMAND"' DEBUG
""",
    ),
    bash(
        "a title with the line as echo reads it",
        "PS1='$ '\ntrap 'echo -ne \"\\033]0;${BASH_COMMAND}\\007\"' DEBUG\n",
    ),
    bash(
        "a shared history",
        r"""
PS1='$ '
HISTFILE=~/h
shopt -s histappend
PROMPT_COMMAND="history -a; history -c; history -r; $PROMPT_COMMAND"
""",
    ),
    bash("a right prompt", "PS1='\\[\\e[s\\e[60C12:00\\e[u\\]\\u\\$ '\n"),
    bash(
        "a prompt that asks where the cursor is",
        r"""
PS1='$ '
fresh() { local code=$? row col; IFS=';' read -rsdR -p $'\e[6n' row col
    ((col == 1)) || echo '%'; return $code; }
PROMPT_COMMAND=fresh
""",
    ),
    bash("a prompt that wraps", "PS1='" + "a long way down " * 9 + "\\n\\w\\$ '\n"),
    bash("a prompt of nothing", "PS1=''\n"),
    bash(
        "vi mode with its own strings",
        r"""
PS1='$ '
set -o vi
bind 'set show-mode-in-prompt on'
bind 'set vi-ins-mode-string +'
bind 'set vi-cmd-mode-string :'
""",
    ),
    bash(
        "a prompt that shows its own text",
        "PS1='\\w\\$ '\nlong() { width=${PS1@P}; width=${#width}; }\nPROMPT_COMMAND=long\n",
    ),
    bash(
        "functrace and a RETURN trap",
        "PS1='$ '\nset -o functrace\ntrap ':' RETURN\ntrap ':' DEBUG\n",
    ),
    bash(
        "prompt commands that run jobs",
        "PS1='$ '\njob() { (true &); true & wait $!; }\nset +m\nPROMPT_COMMAND=job\n",
    ),
)

# --- zsh -----------------------------------------------------------------------------------------

_HOOK = "autoload -Uz add-zsh-hook\n"

_ZSH = (
    zsh(
        "oh-my-zsh",
        "setopt promptsubst autocd interactivecomments hist_verify\n"
        + _HOOK
        + r"""
info() { print -n ' git:(%F{red}main%f)' }
PROMPT='%(?:%F{green}➜ :%F{red}➜ ) %F{cyan}%c%f$(info) '
title() { print -Pn "\e]2;%n@%m:%~\a" }
t_cmd() { title }; t_exec() { print -n "\e]2;$1\a" }
add-zsh-hook precmd t_cmd; add-zsh-hook preexec t_exec
""",
    ),
    zsh(
        "oh-my-zsh with vi-mode",
        "bindkey -v\nsetopt promptsubst\n"
        + r"""
zle-keymap-select() { typeset -g MODE=$KEYMAP; zle reset-prompt; zle -R }
zle-line-init() { typeset -g MODE=main; printf '\e[6 q' }
zle-line-finish() { printf '\e[2 q' }
zle -N zle-keymap-select; zle -N zle-line-init; zle -N zle-line-finish
PS1='${${MODE:-main}/vicmd/N} %~ %# '; RPS1='${MODE/vicmd/<<<}'
""",
    ),
    zsh(
        "powerlevel10k",  # a long expression; its hook moves to where it wants to be
        "setopt promptsubst\n"
        + r"""
p_code=0; p_left() { p_line="%F{blue}%~%f ${1}" }
p_precmd() { p_code=$?; p_left $p_code; precmd_functions=(${precmd_functions:#p_precmd} p_precmd) }
PROMPT='${p_line:+$p_line}'$'\n''${${p_code:#0}:+%F{red\}}❯%f '; RPROMPT='%F{242}${p_code}%f at %*'
PROMPT_EOL_MARK='%F{242}↵%f'; precmd_functions+=(p_precmd)
""",
    ),
    zsh(
        "powerlevel10k, transient",  # the prompt is replaced when a line is accepted
        "setopt promptsubst\n"
        + r"""
full='%F{blue}%~%f'$'\n''❯ '; PROMPT=$full; RPROMPT='%*'
t_finish() { PROMPT='❯ ' RPROMPT= ; zle reset-prompt; zle -R }
t_back() { PROMPT=$full RPROMPT='%*' }
autoload -Uz add-zle-hook-widget; add-zle-hook-widget line-finish t_finish
    precmd_functions+=(t_back)
""",
    ),
    zsh(
        "powerlevel10k, instant",  # a prompt before the rc file is through, its output held back
        r"""
print -n '~ ❯ '; exec {keep}>&1 1>/dev/null
instant() { exec 1>&$keep {keep}>&-; print -n '\r\e[K\e[J'
    precmd_functions=(${precmd_functions:#instant}) }
print 'what the rc file says'; PROMPT='%~ ❯ '; precmd_functions=(instant $precmd_functions)
""",
        again=False,
    ),
    zsh(
        "powerlevel10k, with marks of its own",
        "setopt promptsubst\n"
        + r"""
PROMPT='%{'$'\e]133;A\a''%}%~ ❯ %{'$'\e]133;B\a''%}'
m_cmd() { print -n "\e]133;D;$?\a" }; m_exec() { print -n '\e]133;C;\a' }
precmd_functions+=(m_cmd); preexec_functions+=(m_exec)
""",
    ),
    zsh(
        "async by a pipe",  # as gitstatus and zsh-async: an answer comes later, and redraws
        "setopt promptsubst\n"
        + _HOOK
        + r"""
a_text=; PS1='%~${a_text} %# '
a_done() { local line; IFS= read -r line <&$1; a_text=" $line"; zle -F $1; exec {1}<&-
    zle reset-prompt; zle -R }
a_start() { local fd; exec {fd}< <(print main); zle -F $fd a_done }
add-zsh-hook precmd a_start
""",
    ),
    zsh(
        "pure",
        "setopt promptsubst\n"
        + _HOOK
        + r"""
newline=$'\n%{\r%}'; typeset -g PS1 PURE
r_render() { local line="%F{blue}%~%f main"; local clean=${${PROMPT%%$newline*}:-}
    PROMPT="$line${newline}%(?.%F{magenta}.%F{red})❯%f "
    [[ $1 == precmd ]] && print }
r_cmd() { r_render precmd }; r_exec() { unset r_at }
add-zsh-hook precmd r_cmd; add-zsh-hook preexec r_exec
r_reset() { zle && zle .reset-prompt }; zle -N clear-screen r_reset
PROMPT2='%F{242}%_ %f❯ '
""",
    ),
    zsh(
        "starship",
        "setopt promptsubst\n"
        + _HOOK
        + r"""
s_cmd() { s_code=$? s_pipe=($pipestatus); if (( ${+s_at} )); then s_took=1; unset s_at
    else unset s_took; fi }
s_exec() { s_at=1 }
add-zsh-hook precmd s_cmd; add-zsh-hook preexec s_exec
show() { print -n "\n%B%F{cyan}%~%f%b took ${s_took:-0}s\n%(?.❯.✗) " }
PROMPT='$(show)'; RPROMPT='$(print -n right)'; PROMPT2='∙ '
s_keymap() { zle reset-prompt }; zle -N zle-keymap-select s_keymap
""",
    ),
    zsh(
        "zsh-autosuggestions",  # wraps every widget, shows grey text behind the cursor
        "PS1='%# '\n"
        + r"""
typeset -g POSTDISPLAY
s_show() { POSTDISPLAY='rest of it'; region_highlight=("$#BUFFER 99 fg=8") }
s_wrap() { local w; for w in accept-line self-insert bracketed-paste backward-delete-char; do
    [[ $widgets[$w] == user:s_* ]] && continue
    eval "s_$w() { unset POSTDISPLAY; zle .$w -- \"\$@\"; [[ $w == accept-line ]] || s_show }"
    zle -N $w s_$w; done }
precmd_functions+=(s_wrap)
""",
    ),
    zsh(
        "zsh-syntax-highlighting",
        "PS1='%# '\n"
        + r"""
h_paint() { (( PENDING || KEYS_QUEUED_COUNT )) && return
    region_highlight=("0 $#BUFFER fg=green") }
autoload -Uz add-zle-hook-widget; add-zle-hook-widget line-pre-redraw h_paint
    add-zle-hook-widget line-finish h_paint
""",
    ),
    zsh(
        "a widget over accept-line",
        r"""
PS1='%# '
mine() { [[ $BUFFER == '' ]] && BUFFER=' :'; zle .accept-line }
zle -N accept-line mine
""",
    ),
    zsh(
        "magic-enter",
        r"""
PS1='%# '
magic() { if [[ -z $BUFFER && $CONTEXT == start ]]; then print; zle reset-prompt
    else zle .accept-line; fi }
zle -N magic
bindkey '^M' magic
""",
    ),
    zsh(
        "direnv",
        r"""
PS1='%# '
d_hook() { trap -- '' SIGINT; eval "$(print 'export SEEN=1')"; trap - SIGINT }
typeset -ag precmd_functions chpwd_functions
(( ! ${precmd_functions[(I)d_hook]} )) && precmd_functions=(d_hook $precmd_functions)
(( ! ${chpwd_functions[(I)d_hook]} )) && chpwd_functions=(d_hook $chpwd_functions)
""",
    ),
    zsh(
        "conda",
        r"""
PS1='%n %# '
conda() { eval "$(print -r -- "PS1='(base) ${PS1#\(base\) }'")" }
conda activate
""",
    ),
    zsh(
        "virtualenv",
        r"""
PS1='%n %# '
[[ -n ${OLD_PS1+x} ]] && PS1=$OLD_PS1
OLD_PS1=${PS1-}; PS1="(venv) ${PS1-}"; hash -r
""",
    ),
    zsh(
        "mise",
        r"""
PS1='%# '
m_hook() { eval "$(print 'export M=1')" }
typeset -ag precmd_functions chpwd_functions
[[ -z ${precmd_functions[(r)m_hook]+1} ]] && precmd_functions=(m_hook $precmd_functions)
command_not_found_handler() { print "not here: $1"; return 127 }
""",
    ),
    zsh(
        "zoxide",
        r"""
PS1='%# '
z_hook() { : "$(pwd -L)" }
chpwd_functions=("${(@)chpwd_functions:#z_hook}" z_hook)
cd() { builtin cd "$@" }
""",
    ),
    zsh(
        "nvm",
        "PS1='%# '\n"
        + _HOOK
        + "load() { [[ -f .nvmrc ]] && print found; true }\nadd-zsh-hook chpwd load\nload\n",
    ),
    zsh(
        "fzf",
        r"""
PS1='%# '
f_w() { LBUFFER+=x; zle reset-prompt }
zle -N f_w
bindkey -M emacs '^T' f_w
bindkey -M viins '^T' f_w
f_c() { zle ${f_default:-expand-or-complete} }
zle -N f_c
bindkey '^I' f_c
""",
    ),
    zsh(
        "atuin",
        "PS1='%# '\n"
        + _HOOK
        + r"""
a_pre() { A=$(print id) }
a_post() { local code=$?; [[ -z ${A:-} ]] && return; (: $code &); A= }
add-zsh-hook preexec a_pre
add-zsh-hook precmd a_post
""",
    ),
    zsh(
        "VS Code",  # the prompt is put back before each command
        "PS1='%~ %# '\nRPROMPT=right\n"
        + _HOOK
        + r"""
v_on=1
v_update() { v_ps1=$PS1 v_ps2=$PS2; v_on=; PS1="%{"$'\e]633;A\a'"%}$PS1%{"$'\e]633;B\a'"%}"
    PS2="%{"$'\e]633;F\a'"%}$PS2" }
v_cmd() { local code=$?; builtin printf '\e]633;D;%s\a' $code; [[ -n $v_on ]] && v_update }
v_exec() { PS1=$v_ps1 PS2=$v_ps2; v_on=1; builtin printf '\e]633;E;%s\a\e]633;C\a' "$1" }
add-zsh-hook precmd v_cmd; add-zsh-hook preexec v_exec
""",
        again=False,
    ),
    zsh(
        "kitty",  # wants to be the last of the hooks too, and marks through a descriptor of its own
        "PS1='%~'$'\\n''%# '\n"
        + r"""
typeset -gi k_fd; exec {k_fd}>/dev/tty; k_state=0
k_cmd() { local code=$?; builtin print -rnu $k_fd $'\e]133;D;'$code$'\a'
    local m=$'%{\e]133;A\a%}'
    [[ $PS1 == *$m* ]] || PS1=$m$PS1; [[ $PS2 == *133\;A* ]] || PS2=$'%{\e]133;A;k=s\a%}'$PS2
    if [[ $precmd_functions[-1] != k_cmd ]]
    then precmd_functions=(${precmd_functions:#k_cmd} k_cmd); fi }
k_exec() { builtin print -rnu $k_fd $'\e]133;C\a'; PS1=${PS1//$'%{\e]133;A\a%}'} }
precmd_functions+=(k_cmd); preexec_functions+=(k_exec)
""",
    ),
    zsh("a theme of zsh, adam2", "autoload -U promptinit; promptinit; prompt adam2\n"),
    zsh("a theme of zsh, bart", "autoload -U promptinit; promptinit; prompt bart\n"),
    zsh("a theme of zsh, walters", "autoload -U promptinit; promptinit; prompt walters\n"),
    zsh(
        "a title with the line as print reads it",
        "PS1='%# '\npreexec() { print -n \"\\e]2;$1\\a\" }\nprecmd() { print -Pn '\\e]2;%~\\a' }\n",
    ),
    zsh(
        "vcs_info",
        r"""
autoload -Uz vcs_info
precmd() { vcs_info }
setopt promptsubst
PS1='%~ ${vcs_info_msg_0_}%# '
""",
    ),
    zsh(
        "a clock that redraws",
        "setopt promptsubst\nPS1='%* %# '\nTMOUT=1\nTRAPALRM() { zle && zle reset-prompt }\n",
    ),
    zsh(
        "signals of zsh",
        "PS1='%# '\nTRAPINT() { print -n -u2 '^C'; return $(( 128 + $1 )) }\nTRAPZERR() { : }\n",
    ),
    zsh("a prompt that wraps", "PS1='" + "a long way down " * 9 + "%# '\nRPS1='right of it'\n"),
    zsh("a prompt of nothing", "PS1=''\n"),
)

# --- fish ----------------------------------------------------------------------------------------

_FISH = (
    fish(
        "starship",
        r"""
function fish_prompt
  set -l p $pipestatus
  set -l code $status
  printf '\n\e[1;36m%s\e[0m via py\n❯ ' (prompt_pwd)
end
function fish_right_prompt
  printf 'took 3s'
end
functions -e fish_mode_prompt
""",
    ),
    fish(
        "starship, transient",
        r"""
function fish_prompt
  if test "$T" = 1; set -g T 0; printf '\e[0J❯ '; else; printf '\n%s via py\n❯ ' (prompt_pwd); end
end
function t_reset --on-event fish_postexec; set -g T 0; end
function t_run
  if commandline --is-valid; set -g T 1; commandline -f repaint; end
  commandline -f execute
end
bind --user \r t_run
""",
    ),
    fish(
        "tide",  # a child computes the prompt, a variable brings it, and the line is repainted
        r"""
set -g t_text first
function t_take --on-variable t_new; set -g t_text $t_new; commandline -f repaint 2>/dev/null; end
function fish_prompt; set -l code $status; test "$t_seen" = "$code"; or begin
    set -g t_seen $code; set -g t_new "c$code"; end
  echo; echo -n "$t_text ❯ "; end
function fish_right_prompt; date +%H; end
""",
    ),
    fish(
        "pure",
        r"""
function fish_prompt --description 'several lines'
  set -l code $status
  echo -e '\n\e[34m~/x\e[0m'
  test $code = 0; and echo -n '❯ '; or echo -n '✗ '
end
function p_after --on-event fish_postexec
  true
end
function p_before --on-event fish_prompt
  true
end
""",
    ),
    fish(
        "oh-my-fish",
        r"""
function fish_prompt
  set -l code $status
  echo -n "[$code] "
  echo -n (basename $PWD)'> '
end
function fish_title
  echo $argv
end
function fish_greeting
  echo welcome
end
""",
    ),
    fish(
        "conda",
        r"""
function c_left; echo -n '(base) '; end
if not functions -q c_old
  functions -q fish_prompt; and functions -c fish_prompt c_old; or function c_old; echo -n '> '; end
end
function fish_prompt; set -l s $status; c_left; c_back $s; c_old; end
function c_back; return $argv[1]; end
""",
        again=False,
    ),
    fish(
        "virtualenv",
        r"""
if not functions -q _old_prompt
  functions -c fish_prompt _old_prompt
  function fish_prompt
    set -l old $status
    printf '(venv) '
    echo "exit $old" | .
    _old_prompt
  end
end
""",
        again=False,
    ),
    fish(
        "direnv",
        r"""
function d_eval --on-event fish_prompt
  echo 'set -gx SEEN 1' | source
end
function d_pre --on-event fish_preexec
  functions -q d_cd; and functions -e d_cd
end
function d_cd --on-variable PWD
  true
end
""",
    ),
    fish(
        "mise",
        r"""
function m_hook --on-event fish_prompt
  true | source
end
function m_pwd --on-variable PWD
  true | source
end
function mise; command true $argv; end
""",
    ),
    fish(
        "zoxide",
        r"""
function z_hook --on-variable PWD
  command true
end
function cd --wraps cd
  builtin cd $argv
end
""",
    ),
    fish(
        "atuin",
        r"""
function a_pre --on-event fish_preexec
  set -g A (echo id)
end
function a_post --on-event fish_postexec
  set -l s $status
  test -n "$A"; and command true
  set -g A
end
""",
    ),
    fish(
        "kitty",
        r"""
function k_mark --on-event fish_prompt; printf '\e]133;A;special_key=1\a'; end
function k_out --on-event fish_preexec; printf '\e]133;C\a'; end
function k_end --on-event fish_postexec; printf '\e]133;D;%s\a' $status; end
function k_cwd --on-variable PWD; printf '\e]7;kitty-shell-cwd://h%s\a' $PWD; end
""",
    ),
    fish(
        "iTerm2",
        r"""
functions -q i_user; or functions -c fish_prompt i_user
function fish_prompt
  set -l s $status
  printf '\e]133;D;%s\a\e]133;A\a' $s
  printf '%b' (string join '\n' -- (i_user))
  printf '\e]133;B\a'
end
""",
        again=False,
    ),
    fish(
        "VS Code",
        r"""
function v_esc --on-event fish_preexec
  printf '\e]633;E;%s\a\e]633;C\a' "$argv"
end
function v_done --on-event fish_postexec
  printf '\e]633;D;%s\a' $status
end
function v_cancel --on-event fish_cancel
  printf '\e]633;E\a\e]633;D\a'
end
""",
    ),
    fish(
        "vi keys and a mode prompt",
        'fish_vi_key_bindings\nfunction fish_mode_prompt\n  echo -n "[$fish_bind_mode] "\nend\n',
    ),
    fish(
        "a prompt that wraps",
        "function fish_prompt\n  echo -n '" + "a long way down " * 9 + "'\nend\n",
    ),
)

# --- questions while a framework is there, and shells behind ssh ---------------------------------

_RICH_BASH = next(shape.text for shape in _BASH if shape.name == "kitty")
_RICH_ZSH = next(shape.text for shape in _ZSH if shape.name == "zsh-autosuggestions")
_RICH_FISH = next(shape.text for shape in _FISH if shape.name == "starship")

QUESTIONS = [
    Case(
        "read -e gets what was typed alone",
        BASH,
        (
            asks("read -e x; echo got-$x", "line"),
            Keys(b"abc\r"),
            Wait(output="abc\ngot-abc"),
            run("read -e y <<< z; echo $y", "z"),
            run("echo on", "on"),
        ),
        rc(_RICH_BASH),
    ),
    Case(
        "select",
        BASH,
        (
            asks("select x in a b; do echo got-$x; break; done", "line", None),
            Keys(b"2\r"),
            Wait(output=None),
            run("echo $x", "b"),
        ),
        rc(_RICH_BASH),
    ),
    Case(
        "vared",
        ZSH,
        (
            run("v=old"),
            asks("vared v", "line"),
            Keys(b"er\r"),
            Wait(output=None),
            run("echo $v", "older"),
            run("false", code=1),
        ),
        rc(_RICH_ZSH, "zsh"),
    ),
    Case(
        "read of fish",
        FISH,
        (
            asks("read x; echo got-$x", "line"),
            Keys(b"abc\r"),
            Wait(output=None),
            run("echo $x", "abc"),
            run("false", code=1),
        ),
        rc(_RICH_FISH, "fish"),
    ),
    *(
        Case(
            "output into a file",
            (shell,),
            (
                run("exec 3>&1 4>&2"),
                run("exec >out"),
                run("echo hidden; false", "", 1),
                run("echo more\nsh -c 'exit 4'", "", 4),
                run("exec >&3"),
                run("cat out", "hidden\nmore"),
                run("exec 2>err", None),
                run("echo seen; false", "seen", 1, ended_by=None),
                run("exec 2>&4", None, ended_by=None),
                run("echo on; false", "on", 1),
            ),
            rc("PS1='$ '\n", shell),
        )
        for shell in ("bash", "zsh")
    ),
]

# A prompt that could be anything: that it is one is known from the run before.
REMOTE = [
    Case(
        f"a prompt that ends in {end}, {program}",
        BASH,
        (
            opens(f"@ssh@ -t {program}"),
            inner(f"PS1='box{end} '"),
            inner("echo hi", "hi"),
            inner("sh -c 'exit 42'", code=42),
            inner("echo one\nfalse", "one", 1),
            inner("printf abc", "abc"),
            leaves("exit", None, context="wrapped"),
            run("echo on", "on"),
        ),
    )
    for program in ("dash", "'busybox ash'", "'bash --norc'")
    for end in ("%", ":", "λ", "»")
]

FRAMEWORKS = [
    *(case for shape in (*_BASH, *_ZSH, *_FISH) for case in shape.cases()),
    *QUESTIONS,
    *REMOTE,
]
