# Shell integration for bash: marks for prompt, command start and exit code, with a secret nonce.
# Sourced by `bash --rcfile`. It keeps the user's own rc file, PROMPT_COMMAND, PS0, PS1 and traps.
# Sourced again by a key (marks.ASK_KEY), it repairs what a user's command took away, and answers.
#
# Rule: the exit code comes from $? inside of PS1 (mark Q). Bash restores it before it expands the
# prompt, so no PROMPT_COMMAND can change it. The function in PROMPT_COMMAND only tells it earlier.
# Locals have our prefix, too: bash makes none that has the name of a read-only variable.

# The nonce comes through a pipe that is emptied and closed at once: a child finds it in no
# environment, command line or file. It stays in a variable of this shell that is not exported.
if [[ ${NACRE_NONCE_FD-} == +([0-9]) ]]; then
    { IFS= read -r __nacre_nonce <&"$NACRE_NONCE_FD" && eval "exec $NACRE_NONCE_FD<&-"; } 2>/dev/null
    unset NACRE_NONCE_FD
    # What --rcfile took the place of.
    [[ -r ~/.bashrc ]] && . ~/.bashrc
    __nacre_began= __nacre_count=0 __nacre_verbose=
    # With `set -v` in it, bash would show the rest of this file.
    [[ $- != *v* ]] || { \set +v && __nacre_verbose=1; }
fi

if [[ -n ${__nacre_nonce-} ]]; then
    # What is left after `unset ${!__nacre_*}`: with it the key brings back the rest.
    if [[ ${__nacre_nonce@a} != *r* ]]; then
        __nacre_script=${BASH_SOURCE[0]}
        __nacre_ask='{ __nacre_code=$? __nacre_at=$LINENO __nacre_in=${#BASH_SOURCE[@]};'
        __nacre_ask+=" \"\${__nacre_word:-builtin}\" . ${__nacre_script@Q}; } 2>/dev/null"
        \readonly __nacre_nonce __nacre_script __nacre_ask
    fi

    # The word that calls builtins and is no function of the user's. Where this is called, standard
    # error goes nowhere: to open /dev/null once more takes four times as long as all of it.
    __nacre_choose() {
        __nacre_word=builtin
        ! \declare -F builtin >&2 || __nacre_word=command
    }

    # Say it to the terminal: after `exec >file` standard output is the user's own. Where printf was
    # switched off (enable -n), there is a program of that name.
    __nacre_say() {
        "$__nacre_word" printf "$@" >/dev/tty || \command printf "$@" >/dev/tty
    }

    # First of the prompt commands, in an element of its own: here $? is the command's. Frameworks
    # that call what stood in PROMPT_COMMAND before them call it once more, with a $? of theirs.
    __nacre_pre() {
        # `local code=$?` would be a variable for its environment with `set -k`.
        __nacre_left=$?
        ((!${__nacre_told:-0})) || "$__nacre_word" return "$__nacre_left"
        __nacre_status=$__nacre_left __nacre_told=1 __nacre_known=
        "$__nacre_word" unset -v _nacre_c
        __nacre_choose
        if [[ -n ${__nacre_began-} ]]; then
            if [[ ${PROMPT_COMMAND-} != "$__nacre_only" &&
                ${PROMPT_COMMAND-} != "$__nacre_first"* ]]; then
                # Another command came before: what it left in $? is not what was asked for.
                __nacre_say '\e]133;O;n=%s\a' "$__nacre_nonce"
            elif __nacre_known=$__nacre_status; [[ $PWD == *[[:cntrl:]]* ]]; then
                __nacre_say '\e]133;D;n=%s;%s\a' "$__nacre_nonce" "$__nacre_status"
            else
                __nacre_say '\e]133;D;n=%s;%s;%s\a' "$__nacre_nonce" "$__nacre_status" "$PWD"
            fi
        fi
        __nacre_began=1
        "$__nacre_word" return "$__nacre_status"
    }

    # Last of all: frameworks that rebuild the prompt have done so by now. Mostly nothing is other than
    # it was left at the prompt before.
    __nacre_post() {
        __nacre_told=0
        [[ ${PS1-} == "${__nacre_ps1-}" && ${PS0-} == "${__nacre_ps0-}" &&
            ${PS2-} == "${__nacre_ps2-}" && -z ${PS0@a}${PS1@a}${PS2@a} &&
            ($- == *u* || -z ${__nacre_line@a}) &&
            $SHELLOPTS == "${__nacre_set-}" && $BASHOPTS == "${__nacre_shopt-}" &&
            ${histchars-} == "${__nacre_chars-}" &&
            ${PROMPT_COMMAND[*]} == "${__nacre_hooks-}" ]] || __nacre_repair
        __nacre_take_text
        "$__nacre_word" return "$__nacre_status"
    }

    # `bind 'set keymap vi'`, or an inputrc that is read again, leaves readline in vi's commands
    # while it edits like emacs: it would run what is left of a line after they have changed it.
    __nacre_take_text() {
        [[ -o vi ]] || "$__nacre_word" bind 'set keymap emacs'
    }

    __nacre_repair() {
        __nacre_mark_prompts
        # Joined by whatever IFS begins with, or by nothing.
        [[ ${PROMPT_COMMAND[*]} == "$__nacre_only" ||
            ${PROMPT_COMMAND[*]} == "$__nacre_first"*"$__nacre_last"?(?)?(__bp_interactive_mode) ]] ||
            __nacre_hook
        __nacre_ps0=${PS0-} __nacre_ps1=${PS1-} __nacre_ps2=${PS2-}
        __nacre_chars=${histchars-}
        __nacre_set=$SHELLOPTS __nacre_shopt=$BASHOPTS __nacre_hooks=${PROMPT_COMMAND[*]}
        # Where nothing in a prompt is expanded, it has the exit code in it: each is another.
        [[ :$BASHOPTS: == *:promptvars:* ]] || __nacre_shopt=
    }

    __nacre_mark_prompts() {
        local __nacre_to_begin __nacre_to_end __nacre_to_more __nacre_to_start
        [[ -v PS0 || -v READLINE_LINE ]] || PS0=
        [[ -v PS1 && -v PS2 ]] || "$__nacre_word" return 0
        [[ ${PS0@a}${PS1@a}${PS2@a} != *r* ]] || "$__nacre_word" return 0 # read-only: nobody changes them
        __nacre_mode=emacs
        [[ ! -o vi ]] || __nacre_mode=vi
        # Our functions cannot be put there: what comes before a prompt may be printed by others.
        [[ ${PROMPT_COMMAND@a} != *[rilu]* || ${PROMPT_COMMAND[*]} == *__nacre_pre* ]] ||
            __nacre_mode+=';unhooked'
        # With other characters for older lines, who types cannot tell what is one.
        [[ ${histchars-!^} == '!^'* || $__nacre_mode == *';'* ]] || __nacre_mode+=';unhooked'
        if [[ :$BASHOPTS: == *:promptvars:* ]]; then
            # $((…)) counts prompts: a prompt that is only drawn again keeps its number.
            __nacre_to_begin='\[\e]133;Q;n=${__nacre_nonce-};$((++__nacre_count));$?;${PWD//*[[:cntrl:]]*}\a'
            __nacre_to_begin+='\e]133;A;n=${__nacre_nonce-}\a\]'
            __nacre_to_end='\[\e]133;B;n=${__nacre_nonce-};${__nacre_mode-}\a\]'
            __nacre_to_more='\[\e]133;P;n=${__nacre_nonce-}\a\]'
            # Also remembers the line that runs: at the next prompt it is a later one.
            __nacre_to_start='\e]133;C;n=${__nacre_nonce-};$((__nacre_told=0,__nacre_line=LINENO))\a'
            [[ $- == *u* || ${__nacre_told@a}${__nacre_line@a} != *r* ]] ||
                __nacre_to_start='\e]133;C;n=${__nacre_nonce-}\a' # it would say so in each command's output
        else
            # As liquidprompt has it: nothing in them is expanded but what stands behind a backslash.
            __nacre_to_begin='\[\e]133;Q;n='$__nacre_nonce';'$((++__nacre_count))';'${__nacre_known-}';\a'
            __nacre_to_begin+='\e]133;A;n='$__nacre_nonce'\a\]'
            __nacre_to_end='\[\e]133;B;n='$__nacre_nonce';'$__nacre_mode'\a\]'
            __nacre_to_more='\[\e]133;P;n='$__nacre_nonce'\a\]'
            __nacre_to_start='\e]133;C;n='$__nacre_nonce'\a'
        fi
        __nacre_known=
        if [[ $PS1 != "$__nacre_to_begin"*"$__nacre_to_end" ]]; then
            # A line before or behind it, as virtualenv puts one, belongs to the prompt.
            PS1=${PS1//"${__nacre_begin:-$__nacre_to_begin}"/}
            PS1=$__nacre_to_begin${PS1//"${__nacre_end:-$__nacre_to_end}"/}$__nacre_to_end
        fi
        __nacre_begin=$__nacre_to_begin __nacre_end=$__nacre_to_end
        # While a line is edited, bash holds on to the old PS0 and PS2 and would show freed memory.
        [[ ! -v READLINE_LINE ]] || "$__nacre_word" return 0
        if [[ $PS2 != "$__nacre_to_more"* ]]; then
            PS2=$__nacre_to_more${PS2//"${__nacre_more:-$__nacre_to_more}"/}
        fi
        if [[ $PS0 != *"$__nacre_to_start" ]]; then
            PS0=${PS0//"${__nacre_start:-$__nacre_to_start}"/}$__nacre_to_start
        fi
        __nacre_more=$__nacre_to_more __nacre_start=$__nacre_to_start
        # Exported, another shell would show them as text.
        [[ ${PS0@a}${PS1@a}${PS2@a} != *x* ]] || "$__nacre_word" export -n PS0 PS1 PS2
    }

    # `set -v` shows what bash reads, these words too. So they end with what takes them off the screen
    # again: back to where they began, erase (ECMA-48, CUB and EL), and a sequence without a meaning
    # whose last byte is the brace. To bash it is a parameter that nobody sets.
    __nacre_unseen() {
        local __nacre_shown
        __nacre_shown=$2'${__nacre_none+'
        "$__nacre_word" printf -v "$1" '%s\e[%sD\e[K\e[9}' "$__nacre_shown" "${#__nacre_shown}"
    }

    # Put our two functions first and last. Both are silent when they are gone or traced.
    __nacre_hook() {
        local __nacre_each __nacre_others __nacre_very_last __nacre_alone
        __nacre_others=() __nacre_very_last=()
        [[ -v PROMPT_COMMAND ]] || PROMPT_COMMAND=()
        # Nobody changes it, or what is put there becomes a number or other letters.
        [[ ${PROMPT_COMMAND@a} != *[rilu]* ]] || "$__nacre_word" return 0
        __nacre_unseen __nacre_first '{ __nacre_pre; } 2>/dev/null'
        __nacre_unseen __nacre_last '{ __nacre_post; } 2>/dev/null'
        __nacre_unseen __nacre_only '{ __nacre_pre; __nacre_post; } 2>/dev/null'
        for __nacre_each in "${PROMPT_COMMAND[@]}"; do
            __nacre_each=${__nacre_each//"$__nacre_first"/:}
            __nacre_each=${__nacre_each//"$__nacre_last"/:}
            __nacre_each=${__nacre_each//"$__nacre_only"/:}
            # bash-preexec up to 0.4 takes what installs it out of the first element alone: out of
            # another one it would be installed once more at each prompt.
            [[ -z ${__bp_install_string-} || ${PROMPT_COMMAND[*]} != *__bp_precmd_invoke_cmd* ]] ||
                __nacre_each=${__nacre_each//"$__bp_install_string"/:}
            # bash-preexec takes whatever comes behind its own last word for a user's command.
            if [[ $__nacre_each == *__bp_interactive_mode ]]; then
                __nacre_each=${__nacre_each%__bp_interactive_mode} __nacre_very_last=(__bp_interactive_mode)
            fi
            [[ $__nacre_each == *([:[:space:]]) ]] || __nacre_others+=("$__nacre_each")
        done
        __nacre_alone= # then one function less is called for each prompt
        ((${#__nacre_others[@]} || ${#__nacre_very_last[@]})) || __nacre_alone=yes
        if ((BASH_VERSINFO[0] > 5 || (BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] >= 1))); then
            PROMPT_COMMAND=("$__nacre_first" "${__nacre_others[@]}" "$__nacre_last" "${__nacre_very_last[@]}")
            [[ ! $__nacre_alone ]] || PROMPT_COMMAND=("$__nacre_only")
        elif [[ $__nacre_alone ]]; then
            PROMPT_COMMAND=$__nacre_only
        else
            # One string; a newline parts also what ends with a semicolon or a comment.
            PROMPT_COMMAND=$__nacre_first
            for __nacre_each in "${__nacre_others[@]}" "$__nacre_last" "${__nacre_very_last[@]}"; do
                PROMPT_COMMAND+=$'\n'$__nacre_each
            done
        fi
    }

    # A key that makes the line editor source this file, in the current shell: $? stays.
    __nacre_bind() {
        local __nacre_keymap __nacre_asks
        # In braces: what begins with a quote would be taken as quoted.
        __nacre_unseen __nacre_asks '{ "${__nacre_word:-builtin}" eval "$__nacre_ask"; } 2>/dev/null'
        for __nacre_keymap in emacs vi-insert vi-command; do
            "$__nacre_word" bind -m "$__nacre_keymap" -x '"\e[7337~": '"$__nacre_asks"
        done 2>/dev/null
        __nacre_take_text 2>/dev/null
    }

    # What stands in the line editor (mark L), within the length of a mark.
    __nacre_tell_line() {
        local __nacre_text __nacre_slash
        __nacre_text=$READLINE_LINE __nacre_slash=\\
        __nacre_text=${__nacre_text//"$__nacre_slash"/"$__nacre_slash$__nacre_slash"}
        __nacre_text=${__nacre_text//$'\n'/"${__nacre_slash}n"}
        [[ ${#__nacre_text} -le 900 && $__nacre_text != *[[:cntrl:]]* ]] || __nacre_text="$__nacre_slash?"
        __nacre_say '\e]133;L;n=%s;%s\a' "$__nacre_nonce" "$__nacre_text"
    }

    __nacre_choose 2>/dev/null
    __nacre_hook
    __nacre_mark_prompts
    __nacre_bind
    if [[ -v READLINE_LINE && -n ${__nacre_code-} ]]; then
        # In `read -e` it is the line that runs, or a function's, or one of a wrapped command, whose
        # lines are counted too. Without PS0's word nobody knows; if only that is lost, who heard it
        # can compare.
        if [[ :$BASHOPTS: != *:promptvars:* ]]; then
            __nacre_in=unknown
        elif [[ -z ${_nacre_c-} ]] && ((__nacre_in == 0)); then
            if [[ -z ${__nacre_line-} ]]; then
                __nacre_in="line $__nacre_at"
            elif ((__nacre_at > __nacre_line)); then
                __nacre_in=prompt
            fi
        elif [[ -z ${__nacre_line-} ]]; then
            __nacre_in=unknown
        fi
        __nacre_tell_line
        __nacre_say '\e]133;R;n=%s;%s;%s;%s\a' "$__nacre_nonce" "$__nacre_code" "$__nacre_in" \
            "${PWD//*[[:cntrl:]]*}"
    fi
    __nacre_code=
    [[ -z ${__nacre_verbose-} ]] || { __nacre_verbose= && \set -v; }
fi
