"""What testers found who had not written it: wrong answers of once, each with its case.

Rule: a case stands here because it failed; what it is about is said where it was mended.
"""

from signal import SIGINT

from runs.corpus import (
    ASH,
    BASH,
    DASH,
    FISH,
    SLEEPS,
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
    opens,
    run,
)
from runs.corpus_marks import rc

# As bash-preexec 0.4 has it (bash-it brings it): what installs it is taken out of the first element
# of PROMPT_COMMAND only.
_PREEXEC_ONCE = r"""
__bp_install_string=$'__bp_trap_string="$(trap -p DEBUG)"\ntrap - DEBUG\n__bp_install'
__bp_precmd_invoke_cmd() { :; }; __bp_interactive_mode() { :; }; __bp_preexec_invoke_exec() { :; }
__bp_install() {
    [[ ${PROMPT_COMMAND:-} != *__bp_precmd_invoke_cmd* ]] || return 1
    trap '__bp_preexec_invoke_exec "$_"' DEBUG
    local existing=${PROMPT_COMMAND:-}
    existing=${existing//$__bp_install_string/}
    PROMPT_COMMAND=$'__bp_precmd_invoke_cmd\n'${existing:+$existing$'\n'}__bp_interactive_mode
    preexec_functions+=(preexec)
}
PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}$__bp_install_string
"""
# As globalias of oh-my-zsh has it.
_EXPANDING_SPACE = """PS1='zsh> '
expanding() { zle expand-word; zle self-insert; }
zle -N expanding; bindkey ' ' expanding
zle-line-init() { sleep 0.15; }; zle -N zle-line-init
"""
_SLOW_VI_PROMPT = """
fish_vi_key_bindings
function fish_prompt
    command sleep 0.3
    echo -n 'fish> '
end
"""
_INSTALLED = "echo ${#preexec_functions[@]}"

_HEX = " | od -An -v -tx1 | tr -d ' \\n'"
_LOOP = run(
    "while :; do x=1; done", None, None, status="timeout", ended_by="deadline", timeout_ms=100
)
_LONG = "y" * 1500
_LONG_FAILS = f"echo {_LONG}; sh -c 'exit 6'"
_IN_C = {"LANG": "C", "LC_ALL": "C"}


def _whole(characters: str) -> Run:
    return run(f"printf %s '{characters}'{_HEX}", characters.encode().hex())


def _far(shell: str, name: str, *steps: Step) -> Case:
    return Case(f"{name}, behind ssh", BASH, (opens(f"@ssh@ -t '{shell}'"), *steps))


def _replaces(command: str) -> Run:
    """Its shell becomes another one, which is no exit code of its own."""
    return opens(command, context="any", hints=("the shell was replaced (exec)",))


def _killed_by_others() -> tuple[Step, ...]:
    return (_LOOP, Signal(SIGINT, by_others=True), Wait(output=None, code=130))


TRIED = [
    Case(
        "bash-preexec of 0.4 is installed once",
        BASH,
        (
            run(_INSTALLED, "1"),
            run("sh -c 'exit 3'", code=3),
            run(_INSTALLED, "1"),
            run(_INSTALLED, "1"),
            run("echo x; false", "x", 1),
        ),
        rc(_PREEXEC_ONCE, "bash"),
    ),
    Case(
        "^old^new is a word of the command",
        BASH + ZSH,
        (run("echo first", "first"), run("^first^second", None, 127), run("echo a!b", "a!b")),
    ),
    Case(
        "a shell without a prompt tells its folder",
        BASH,
        (
            inner("cd /usr", cwd="/usr"),
            inner("cd lib; sh -c 'exit 3'", code=3, cwd="/usr/lib"),
        ),
        rc("unset PS1", "bash"),
    ),
    Case(
        "another character for older lines",
        BASH + ZSH,
        (
            run("histchars='@^#'"),
            run("echo @@ a!b; false", "@@ a!b", 1),
            run("histchars='!^#'"),
            run("echo @@ !!", "@@ !!"),
            run("unset histchars"),
            run("echo @@; sh -c 'exit 3'", "@@", 3),
            run("p=${PS1//133;B/}; echo $(((${#PS1} - ${#p}) / 5))", "1"),
        ),
    ),
    Case(
        "characters that line editors use for their own",
        BASH + ZSH + FISH + DASH,
        (
            _whole("\ue000\ue0b0\ue0ff \uf120\uf600\uf641\uf8ff"),
            _whole("\ufdd0\ufdef \x80\x9b\x9f"),
            run("echo \ue0b0; sh -c 'exit 3'", "\ue0b0", 3),
        ),
    ),
    Case(
        "letters that the locale does not have",
        ZSH,
        (_whole("é ü 漢"), _whole("é")),
        {".zshrc": "PS1='zsh> '; unset zle_bracketed_paste\n"},
        _IN_C,
    ),
    Case(
        "pastes that a program has left switched on",
        (*DASH, "ash"),
        (run("printf '\\033[?2004h'"), run("echo on; sh -c 'exit 9'", "on", 9)),
    ),
    Case(
        "a space bar that expands words, and a prompt that takes its time",
        ZSH,
        (
            run("sh -c 'exit 3'", code=3),
            run("echo on\nsh -c 'exit 4'", "on", 4),
            run("x=1; echo $x $x", "1 1"),
        ),
        {".zshrc": _EXPANDING_SPACE},
    ),
    Case(
        "zsh asks whether a word is a slip",
        ZSH,
        (
            run("setopt correct"),
            asks("ehco x", "key", has=("[nyae]?",)),
            Keys(b"n", shows="not found: ehco"),
            Wait(output=None, code=127),
            asks("ehco x", "key", has=("[nyae]?",)),
            Keys(b"y"),
            Wait(output=None, code=0),
            run("echo on; false", "on", 1),
            Screen(has=("on",)),
        ),
    ),
    Case(
        "an interrupt by others behind a line about traps",
        ZSH,
        (
            run("trap : USR1"),
            *_killed_by_others(),
            run("trap", "trap -- : USR1"),
            run("trap 'echo mine' INT"),
            run("trap", "trap -- 'echo mine' INT\ntrap -- : USR1"),
            run("trap - INT"),
            *_killed_by_others(),
            run("read() { :; }; : trap"),  # what reads the list of traps
            run("sh -c 'exit 3'", code=3),
            run("unfunction read; false | true | false", None, 1),
            run("echo $pipestatus", "1 0 1"),
        ),
    ),
    _far(
        "zsh -f",
        "functions over builtin and read, and a long command",
        inner("builtin() { echo B; }; read() { echo R; }; test() { echo T; }"),
        inner("sh -c 'exit 6'", code=6),
        inner(_LONG_FAILS, _LONG, 6),
        inner("read; sh -c 'exit 6'", "R", 6),
    ),
    _far(
        "zsh -f",
        "a DEBUG trap that shows the line",
        inner("trap 'print -r \"D $ZSH_DEBUG_CMD\"' DEBUG", None),
        inner("echo one; sh -c 'exit 6'", None, 6, has=("\none\n",)),
        inner(_LONG_FAILS, None, 6, has=(f"\n{_LONG}\n",)),
    ),
    _far(
        "zsh -f",
        "a trap at each exit",
        inner("TRAPEXIT() { print -r bye; }"),
        inner(_LONG_FAILS, _LONG, 6),
    ),
    _far(
        "bash --norc",
        "functrace and a DEBUG trap",
        inner("set -T; trap 'echo D' DEBUG", None),
        inner("echo on", None, has=("\non\n",)),
        inner('trap \'printf "<%s>" "$BASH_COMMAND"\' DEBUG', None),
        inner(_LONG_FAILS, None, 6, has=(f">{_LONG}\n",)),
    ),
    _far(
        "bash --norc",
        "an ERR trap",
        inner("trap 'echo ERR' ERR"),
        inner("false", "ERR", 1),
        inner("echo a; sh -c 'exit 3'", "a\nERR", 3),
        inner(_LONG_FAILS, f"{_LONG}\nERR", 6),
        inner("! true", code=1),
        inner("true"),
    ),
    *(
        _far(
            shell,
            f"exec {other} in {shell}",
            _replaces(f"exec {other}"),
            inner("echo on; sh -c 'exit 3'", "on", 3),
        )
        for shell, other in (("dash", "dash"), ("dash", "bash --norc"), ("bash --norc", "sh"))
    ),
    _far(
        "dash",
        "exec with all variables exported",
        inner("set -a"),
        run("exec dash", None, None, context="wrapped", ended_by="prompt", hints=("not known",)),
        inner("echo on; sh -c 'exit 3'", "on", 3),
    ),
    Case(
        "exec of the same shell",
        BASH + DASH,
        (_replaces("exec @shell@"), inner("echo on; sh -c 'exit 3'", "on", 3)),
    ),
    Case(
        "exec of the same shell, behind su",
        BASH,
        (
            opens("su root -s /bin/dash"),
            _replaces("exec dash"),
            inner("echo on; sh -c 'exit 3'", "on", 3),
        ),
    ),
    _far(
        "zsh -f",
        "a program that Ctrl+\\ ends",
        inner("sh -c 'kill -QUIT $$'", None, 131, ended_by="prompt"),
    ),
    _far(
        "@ash@",
        "programs that the signals of keys end",
        inner("sh -c 'kill -INT $$'", None, 130, ended_by="prompt"),
        inner("sh -c 'kill -QUIT $$'", None, 131),
    ),
    _far(
        "@ash@",
        "ash asks for the cursor in the first row",
        *(
            step
            for number in range(4)
            for step in (inner("clear"), inner(f"echo {number}; sh -c 'exit 3'", f"{number}", 3))
        ),
    ),
    *(
        _far(
            shell,
            f"{shell} reads a line",
            asks("printf 'Name: '; read x", "line", "Name:", context="wrapped"),
            Keys(b"joe\r"),
            Wait(output="Name: joe"),
            inner("echo $x", "joe"),
            asks("read x", "line", "", context="wrapped"),
            Keys(b"\x03"),
            inner("echo on; sh -c 'exit 3'", "on", 3),
        )
        for shell in ("bash --norc", "dash")
    ),
    _far(
        "dash",
        "pastes that a program has left switched on",
        inner("printf '\\033[?2004h'"),
        inner("sleep 0.5; echo on; sh -c 'exit 9'", "on", 9),
        inner("printf '\\033[?2004h'; sleep 0.8; echo on", "on"),
    ),
    *(
        _far(
            shell,
            f"{shell} with half a line that somebody typed",
            inner("echo on", "on"),
            Keys(b"echo half", shows="echo half"),
            inner("echo on; sh -c 'exit 3'", "on", 3),
            Keys(b"'open", shows="'open"),
            inner("echo on; sh -c 'exit 4'", "on", 4),
        )
        for shell in ("dash", "bash --norc", "zsh -f", "@ash@")
    ),
    Case(
        "half a line that somebody typed",
        DASH + ASH,
        (
            Keys(b"echo half", shows="echo half"),
            run("echo on; sh -c 'exit 3'", "on", 3),
            opens("bash --norc"),
            Keys(b"'open", shows="'open"),
            inner("echo on; sh -c 'exit 4'", "on", 4),
        ),
    ),
    Case(
        "an interrupt by others in a shell that does not tell it",
        BASH,
        (
            opens("zsh -f"),
            run(
                "(sleep 0.3; kill -INT $$) & while :; do :; done",
                None,
                None,
                status="timeout",
                ended_by="deadline",
                context="wrapped",
                timeout_ms=100,
            ),
            Wait(output=None, code=(None, 130)),  # zsh tells 0, 2 or 130
            inner("sh -c 'exit 3'", None, 3),
        ),
    ),
    Case(
        "Ctrl+C breaks off a prompt, and leaves vi's commands",
        FISH,
        (
            run("true"),
            Keys(b"\x03"),
            run("echo b; false", "b", 1),
            run("true"),
            Keys(b"\x1b\x03"),
            run("echo c\nsh -c 'exit 3'", "c", 3),
        ),
        rc(_SLOW_VI_PROMPT, "fish"),
    ),
    Case(
        "the prompt behind Ctrl+C is on its way",
        DASH,
        (
            opens("dash"),
            *(
                step
                for _ in range(3)
                for step in (
                    run(
                        SLEEPS,
                        None,
                        None,
                        status="timeout",
                        ended_by="deadline",
                        context="wrapped",
                        timeout_ms=100,
                    ),
                    Keys(b"\x03", after="\nbegun"),
                    inner("echo on; sh -c 'exit 3'", "on", 3),
                    inner("clear", None),
                )
            ),
        ),
    ),
    Case(
        "no line editor in bash",
        BASH,
        (
            run("set +o emacs"),
            run("echo a; (exit 3)", "a", 3),
            run("echo 'a\nb'; (exit 4)", "a\nb", 4),
            Screen(lacks=("7337", "_nacre")),
            run("set -o emacs"),
            run("echo 'a\nb'; (exit 5)", "a\nb", 5),
        ),
    ),
    Case(
        "no line editor in zsh",
        ZSH,
        (
            run("unsetopt zle"),
            run("echo a; (exit 3)", "a", 3),
            run("echo 'ä\nb'; (exit 4)", "ä\nb", 4),
            Screen(lacks=("7337", "_nacre")),
            run("setopt zle"),
            run("echo 'a\nb'; (exit 5)", "a\nb", 5),
        ),
    ),
    Case(
        "another key deletes the line",
        BASH,
        (
            run("stty kill ^X"),
            Keys(b"echo typed\r", shows="\ntyped"),
            run("echo a; (exit 3)", "a", 3),
        ),
    ),
    Case(
        "all functions are taken away, in zsh the widgets with them",
        ZSH,
        (
            run("unfunction -m '*'"),
            run("echo a; (exit 3)", "a", 3),
            run("echo b; (exit 4)", "b", 4),
        ),
        {".zshenv": "unsetopt global_rcs\n", ".zshrc": "PS1='zsh> '\n"},
    ),
    Case(
        "our functions are taken away in fish",
        FISH,
        (
            run("for f in (functions -an | string match '__nacre*'); functions -e $f; end", None),
            run("echo a; sh -c 'exit 3'", "a", 3),
            run("echo b; sh -c 'exit 4'", "b", 4),
        ),
    ),
    Case(
        "no function for the prompt from the beginning",
        FISH,
        (run("echo a; sh -c 'exit 3'", "a", 3),),
        {".config/fish/config.fish": "functions -e fish_prompt\n"},
    ),
    *(
        Case(
            f"vi waits for what belongs to {key}",
            ("bash", "zsh", "fish") if key != "/" else ("bash", "zsh"),
            (
                run("eval $VI"),
                Keys(b"abc", shows="abc"),
                Keys(b"\x1b" + key.encode()),
                run("echo a; sh -c 'exit 3'", "a", 3),
            ),
            env={"VI": "test $FISH_VERSION && fish_vi_key_bindings || set -o vi"},
        )
        for key in ("f", "d", "r", "R", "3", "/")
    ),
    Case(
        "prompt commands that would become other letters, or a number",
        BASH,
        (
            run("echo a; (exit 3)", "a", 3),
            run("unset PROMPT_COMMAND; declare -i PROMPT_COMMAND", None),
            run("echo b; (exit 4)", "b", 4),
            run("unset PROMPT_COMMAND; declare -l PROMPT_COMMAND=TRUE", None),
            run("echo c; (exit 5)", "c", 5),
            Screen(lacks=("__nacre", "/DEV/NULL")),
        ),
        rc("PS1='bash> '; declare -u PROMPT_COMMAND=:"),
    ),
    Case(
        "what the shell prints comes late, and so does the mark of the start",
        BASH,
        (
            run("exec > >(tee log) 2>&1", None),
            *(
                run(f"echo {code}; (exit {code})", str(code), code, hints=("is a pipe",))
                for code in range(5)
            ),
        ),
    ),
]
