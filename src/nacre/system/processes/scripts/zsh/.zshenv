# Shell integration for zsh: found through ZDOTDIR. It gives ZDOTDIR back, reads the user's own
# .zshenv, and installs its hooks at the first prompt, when all of the user's files have been read.
# Sourced again by a key (marks.ASK_KEY), it repairs what a user's command took away, and answers.

if [[ -n "${NACRE_NONCE_FD-}" ]]; then
    { IFS= read -r __nacre_nonce <&"$NACRE_NONCE_FD" && exec {NACRE_NONCE_FD}<&- } 2>/dev/null
    unset NACRE_NONCE_FD

    if [[ -n "${NACRE_ZDOTDIR-}" ]]; then
        ZDOTDIR="$NACRE_ZDOTDIR"
    else
        unset ZDOTDIR
    fi
    unset NACRE_ZDOTDIR

    # Without a trap, zsh tells after Ctrl+C the code of whichever builtin was cut short, 0 mostly. One
    # that fails changes nothing else. It comes before the user's own files, which may set another.
    __nacre_catch() {
        TRAPINT() {
            for __nacre_off in ${options[xtrace]::=off}; do; done
            return 130
        }
    }
    [[ ! -o interactive ]] || __nacre_catch

    [[ -r "${ZDOTDIR:-$HOME}/.zshenv" ]] && . "${ZDOTDIR:-$HOME}/.zshenv"
    __nacre_began=
fi

if [[ -o interactive && -n "${__nacre_nonce-}" ]]; then
    typeset -g __nacre_nonce __nacre_began
    typeset -g __nacre_status=0 __nacre_off= __nacre_told= __nacre_noted= __nacre_word=builtin

    # `set -x` traces every command of a hook, and with it the nonce. It does not trace the words of a
    # loop, which switch it off here; zsh switches it on again when the function returns. The loops
    # run once, without `break`, which may be a function.
    __nacre_precmd() {
        for __nacre_status __nacre_off in $? ${options[xtrace]::=off}; do; done
        [[ -z "${__nacre_uncaught-}" ]] || __nacre_catch_again
        emulate -L zsh
        if [[ -n "$__nacre_told" ]]; then
            __nacre_status=$__nacre_told
            $__nacre_word return $__nacre_status
        fi
        __nacre_choose
        if [[ -n "$__nacre_began" ]]; then
            if [[ "$PWD" == *[[:cntrl:]]* ]]; then
                __nacre_say '\e]133;D;n=%s;%s\a' "$__nacre_nonce" "$__nacre_status"
            else
                __nacre_say '\e]133;D;n=%s;%s;%s\a' "$__nacre_nonce" "$__nacre_status" "$PWD"
            fi
        fi
        __nacre_began=1 __nacre_told=$__nacre_status
        $__nacre_word return $__nacre_status
    }

    # The line that spoke of traps is over: ours is set again, unless the user now has one for that
    # signal. `trap` lists them in a pipe, but not in a substitution.
    __nacre_catch_again() {
        __nacre_choose
        $__nacre_word setopt localoptions nolocaltraps
        local line
        __nacre_uncaught=
        [[ -z "${functions[TRAPINT]-}${functions[read]-}${functions[trap]-}" ]] ||
            $__nacre_word return 0
        $__nacre_word trap | while IFS= $__nacre_word read -r line; do
            [[ "$line" != *' INT' ]] || $__nacre_word return 0
        done
        __nacre_catch
    }

    # The word that calls builtins; nothing where it is a function of the user's.
    __nacre_choose() {
        __nacre_word=builtin
        [[ -z "${functions[builtin]-}" ]] || __nacre_word=
    }

    # To the terminal: after `exec >file` standard output is the user's own. Else nothing is
    # redirected: without descriptors over 9 (ulimit -n 10) zsh loses for good what it redirects.
    # Where printf was switched off (disable), there is a program of that name.
    __nacre_say() {
        if [[ -n "${builtins[printf]-}" && /dev/fd/1 -ef "$TTY" ]]; then
            $__nacre_word printf "$@"
        else
            $__nacre_word printf "$@" >/dev/tty 2>/dev/null || command printf "$@" >/dev/tty
        fi
    }

    # Last of the precmd functions: frameworks have set their prompt by now.
    __nacre_wrap() {
        for __nacre_off in ${options[xtrace]::=off}; do; done
        emulate -L zsh
        local mark=$'\e]133;' close=$'\a%}' begin end odd=
        # %? is the exit code whatever other hooks do. It counts where no D came (marks.py).
        begin="%{${mark}Q;n=$__nacre_nonce;;%?;"$'\a'"${mark}A;n=$__nacre_nonce"$'\a%}'
        end="%{${mark}B;n=$__nacre_nonce"
        # With other characters for older lines, who types cannot tell what is one.
        [[ "$histchars" == '!^'* ]] || odd=';;unhooked'
        if [[ "$PS1" != "$begin"*"$end$odd$close" ]]; then
            PS1="${PS1//$begin/}"
            PS1="$begin${PS1//$end(|;;unhooked)$close/}$end$odd$close"
        fi
        begin="%{${mark}P;n=$__nacre_nonce"$'\a%}'
        [[ "$PS2" == "$begin"* ]] || PS2="$begin$PS2"
        # It asks whether a word is a slip (`setopt correct`), and reads a key before the line runs.
        begin="%{${mark}C;n=$__nacre_nonce"$'\a%}'
        [[ "${SPROMPT-}" == "$begin"* ]] || SPROMPT="$begin${SPROMPT-}"
        # Shown after output that ends within a line; a theme has one of its own (PROMPT_SP).
        begin="%{${mark}O;n=$__nacre_nonce;eol"$'\a%}'
        [[ "${PROMPT_EOL_MARK-}" == "$begin"* ]] ||
            PROMPT_EOL_MARK="$begin${PROMPT_EOL_MARK-%B%S%#%s%b}"
        # An exported prompt would hand the nonce to every child.
        typeset -g +x PS1 PS2 SPROMPT PROMPT_EOL_MARK
        __nacre_told=
        $__nacre_word return $__nacre_status
    }

    __nacre_preexec() {
        for __nacre_off in ${options[xtrace]::=off}; do; done
        __nacre_choose
        # Read-only, it would say so in each command's output.
        [[ "${(t)__nacre_told}" == *readonly* ]] || __nacre_told=
        # What speaks of traps finds the user's own alone. It may set one: ours does not come back.
        if [[ "$3" == *trap* || "$3" == *TRAPINT* ]]; then
            __nacre_uncaught=1
            [[ "${functions[TRAPINT]-}" != *__nacre_off* ]] || unfunction TRAPINT
        fi
        __nacre_say '\e]133;C;n=%s\a' "$__nacre_nonce"
    }

    # Our own lines begin with a blank, which zsh heeds only if it is told to.
    __nacre_addhistory() {
        for __nacre_off in ${options[xtrace]::=off}; do; done
        [[ "$1" != ' { _nacre_s='* ]]
    }

    # The line editor's own hook outlives `precmd_functions=()`: it puts the others back. Where a
    # theme has drawn the prompt without our marks, it gives them.
    __nacre_line_init() {
        for __nacre_off in ${options[xtrace]::=off}; do; done
        local sp=
        [[ -o promptsp && -o promptcr ]] || sp=unmarked
        emulate -L zsh
        local REPLY
        if [[ "$PS1" != *'133;B;n='* ]]; then
            __nacre_code
            __nacre_say '\e]133;Q;n=%s;;%s;%s\a\e]133;B;n=%s\a' \
                "$__nacre_nonce" "$REPLY" "${PWD:#*[[:cntrl:]]*}" "$__nacre_nonce"
        fi
        if [[ /dev/fd/1 -ef "$TTY" ]]; then
            __nacre_say_keys
        else
            __nacre_say_keys >/dev/tty
        fi
        __nacre_hook $sp
    }

    # What bindkey prints is the mark's value: to read it here would take a process each time.
    __nacre_say_keys() {
        $__nacre_word printf '\e]133;V;n=%s;' "$__nacre_nonce"
        $__nacre_word bindkey -lL main
        $__nacre_word printf '\a'
    }

    # First in the widget that calls all others for line-init: only there $? is the command's. Later
    # it is that of some widget.
    __nacre_note() {
        for __nacre_noted __nacre_off in $? ${options[xtrace]::=off}; do; done
    }

    # The command's code before this prompt; nothing where nobody has noted it.
    __nacre_code() {
        [[ "${widgets[zle-line-init]-}" == user:azhw:zle-line-init &&
            "${functions[azhw:zle-line-init]-}" == *__nacre_note* ]] &&
            REPLY=$__nacre_noted || REPLY=
    }

    # Put our functions first and last.
    __nacre_hook() {
        emulate -L zsh
        local others=(${precmd_functions:#__nacre_(precmd|wrap|install)})
        [[ "${(t)precmd_functions}" == *readonly* ]] ||
            precmd_functions=(__nacre_precmd $others __nacre_wrap)
        [[ "${(t)preexec_functions}" == *readonly* ]] ||
            preexec_functions=(${preexec_functions:#__nacre_preexec} __nacre_preexec)
        [[ "${(t)zshaddhistory_functions}" == *readonly* ]] || zshaddhistory_functions=(
            ${zshaddhistory_functions:#__nacre_addhistory} __nacre_addhistory
        )
        # A function called precmd comes before the array. Where PROMPT_SP does not tell that the
        # command has printed all, the mark must come before what that function prints.
        if [[ -n "${functions[precmd]-}" && "$1" == unmarked &&
            "${functions[precmd]}" != *__nacre_precmd* ]]; then
            functions[precmd]="__nacre_precmd"$'\n'"${functions[precmd]}"
        fi
    }

    # A line that vared edits is no prompt.
    __nacre_ask() {
        for __nacre_off in ${options[xtrace]::=off}; do; done
        emulate -L zsh
        local REPLY where=other
        __nacre_choose
        __nacre_code
        $__nacre_word . "$__nacre_script"
        [[ "$CONTEXT" == (start|cont) ]] && where=prompt
        # What stands in the line editor, with the lines before it of the same command (mark L).
        local line="$PREBUFFER$BUFFER"
        line="${line//\\/\\\\}"
        line="${line//$'\n'/\\n}"
        [[ ${#line} -le 900 && "$line" != *[[:cntrl:]]* ]] || line='\?'
        __nacre_say '\e]133;L;n=%s;%s\a' "$__nacre_nonce" "$line"
        __nacre_say '\e]133;R;n=%s;%s;%s;%s\a' "$__nacre_nonce" "$REPLY" "$where" \
            "${PWD:#*[[:cntrl:]]*}"
    }

    # Begin the line anew, and take text.
    __nacre_begin_anew() {
        for __nacre_off in ${options[xtrace]::=off}; do; done
        BUFFER=
        zle -K main
    }

    __nacre_hook_editor() {
        emulate -L zsh
        local keymap
        zle -N __nacre_ask
        zle -N __nacre_begin_anew
        for keymap in emacs viins vicmd; do
            bindkey -M $keymap '\e[7337~' __nacre_ask
            bindkey -M $keymap '\e[7338~' __nacre_begin_anew
        done
        autoload -Uz add-zle-hook-widget
        add-zle-hook-widget line-init __nacre_line_init 2>/dev/null
        local init=azhw:zle-line-init
        if [[ -n "${functions[$init]-}" && "${functions[$init]}" != *__nacre_note* ]]; then
            functions[$init]="__nacre_note"$'\n'"${functions[$init]}"
        fi
    }

    __nacre_install() {
        for __nacre_status __nacre_off in $? ${options[xtrace]::=off}; do; done
        local code=$__nacre_status
        __nacre_hook_editor
        __nacre_hook
        # The hooks are in place for this very prompt too; for each, where the array is read-only.
        __nacre_leave $code
        __nacre_precmd
        __nacre_wrap
        $__nacre_word return $code
    }

    __nacre_leave() {
        $__nacre_word return $1
    }

    zmodload zsh/parameter
    # What is left after `unset -m '*nacre*'`: with it the key brings back the rest.
    [[ -n "${__nacre_script-}" ]] || typeset -gr __nacre_nonce __nacre_script="${(%):-%x}"
    typeset -ga precmd_functions preexec_functions zshaddhistory_functions
    if [[ -z "$__nacre_began" ]]; then
        [[ " $precmd_functions " == *' __nacre_install '* ]] || precmd_functions+=(__nacre_install)
    else
        __nacre_hook_editor
        __nacre_hook
        __nacre_wrap
    fi
fi
