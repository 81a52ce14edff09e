# Shell integration for bash: marks for prompt, command start and exit code, with a secret nonce.
# Sourced by `bash --rcfile`. It keeps the user's own rc file, PROMPT_COMMAND, PS0, PS1 and traps.

# The nonce comes by a file that is deleted at once: a child finds it in no environment, command line
# or file. It stays in a variable of this shell that is not exported.
if [ -n "$NACRE_NONCE_FILE" ] && [ -r "$NACRE_NONCE_FILE" ]; then
    IFS= read -r __nacre_nonce < "$NACRE_NONCE_FILE"
    command rm -f -- "$NACRE_NONCE_FILE"
fi
unset NACRE_NONCE_FILE

# What --rcfile took the place of.
[ -r ~/.bashrc ] && . ~/.bashrc

if [ -n "$__nacre_nonce" ]; then
    __nacre_status=0
    __nacre_began=

    # First of all prompt commands: here $? is still the command's.
    __nacre_pre() {
        __nacre_status=$?
        if [ -n "$__nacre_began" ]; then
            case $PWD in
                *[[:cntrl:]]*) builtin printf '\e]133;D;n=%s;%s\a' "$__nacre_nonce" "$__nacre_status" ;;
                *) builtin printf '\e]133;D;n=%s;%s;%s\a' "$__nacre_nonce" "$__nacre_status" "$PWD" ;;
            esac
        fi
        __nacre_began=1
        return "$__nacre_status"
    }

    # Last of all: frameworks that rebuild the prompt have done so by now.
    __nacre_post() {
        if [[ $PS1 != *'__nacre_nonce'* ]]; then
            PS1='\[\e]133;A;n=${__nacre_nonce}\a\]'$PS1'\[\e]133;B;n=${__nacre_nonce}\a\]'
        fi
        if [[ $PS2 != *'__nacre_nonce'* ]]; then
            PS2='\[\e]133;P;n=${__nacre_nonce}\a\]'$PS2
        fi
        if [[ $PS0 != *'__nacre_nonce'* ]]; then
            PS0='\e]133;C;n=${__nacre_nonce}\a'$PS0
        fi
        # Exported, another shell would show them as text.
        export -n PS0 PS1 PS2
        return "$__nacre_status"
    }

    if ((BASH_VERSINFO[0] > 5 || (BASH_VERSINFO[0] == 5 && BASH_VERSINFO[1] >= 1))); then
        PROMPT_COMMAND=(__nacre_pre "${PROMPT_COMMAND[@]}" __nacre_post)
    else
        PROMPT_COMMAND="__nacre_pre${PROMPT_COMMAND:+;$PROMPT_COMMAND};__nacre_post"
    fi
fi
