# Shell integration for zsh: found through ZDOTDIR. It gives ZDOTDIR back, reads the user's own
# .zshenv, and installs its hooks at the first prompt, when all of the user's files have been read.

if [[ -n "$NACRE_NONCE_FILE" && -r "$NACRE_NONCE_FILE" ]]; then
    IFS= read -r __nacre_nonce < "$NACRE_NONCE_FILE"
    command rm -f -- "$NACRE_NONCE_FILE"
fi
unset NACRE_NONCE_FILE

if [[ -n "$NACRE_ZDOTDIR" ]]; then
    ZDOTDIR="$NACRE_ZDOTDIR"
else
    unset ZDOTDIR
fi
unset NACRE_ZDOTDIR

[[ -r "${ZDOTDIR:-$HOME}/.zshenv" ]] && . "${ZDOTDIR:-$HOME}/.zshenv"

if [[ -o interactive && -n "$__nacre_nonce" ]]; then
    typeset -g __nacre_nonce __nacre_began=
    typeset -gi __nacre_status=0

    __nacre_precmd() {
        __nacre_status=$?
        if [[ -n "$__nacre_began" ]]; then
            if [[ "$PWD" == *[[:cntrl:]]* ]]; then
                builtin printf '\e]133;D;n=%s;%s\a' "$__nacre_nonce" "$__nacre_status"
            else
                builtin printf '\e]133;D;n=%s;%s;%s\a' "$__nacre_nonce" "$__nacre_status" "$PWD"
            fi
        fi
        __nacre_began=1
        return $__nacre_status
    }

    # Last of the precmd functions: frameworks have set their prompt by now.
    __nacre_wrap() {
        local mark=$'\e]133;'
        if [[ "$PS1" != *'133;B;n='* ]]; then
            PS1="%{${mark}A;n=$__nacre_nonce"$'\a'"%}$PS1%{${mark}B;n=$__nacre_nonce"$'\a'"%}"
        fi
        if [[ "$PS2" != *'133;P;n='* ]]; then
            PS2="%{${mark}P;n=$__nacre_nonce"$'\a'"%}$PS2"
        fi
        # An exported prompt would hand the nonce to every child.
        typeset -g +x PS1 PS2
        return $__nacre_status
    }

    __nacre_preexec() {
        builtin printf '\e]133;C;n=%s\a' "$__nacre_nonce"
    }

    # Our own lines begin with a blank, which zsh heeds only if it is told to.
    __nacre_addhistory() {
        [[ "$1" != ' _nacre_s='* ]]
    }

    # At the first prompt functions of the user's may come after ours and rebuild it without marks:
    # there the line editor says that the prompt is drawn.
    __nacre_line_init() {
        builtin printf '\e]133;B;n=%s\a' "$__nacre_nonce"
        add-zle-hook-widget -d line-init __nacre_line_init
    }

    __nacre_install() {
        local code=$?
        autoload -Uz add-zle-hook-widget
        zle -N __nacre_line_init
        add-zle-hook-widget line-init __nacre_line_init 2>/dev/null
        precmd_functions=(__nacre_precmd ${precmd_functions:#__nacre_install} __nacre_wrap)
        preexec_functions=(${preexec_functions[@]} __nacre_preexec)
        zshaddhistory_functions=(${zshaddhistory_functions[@]} __nacre_addhistory)
        # The hooks are in place for this very prompt too.
        __nacre_began=
        __nacre_precmd
        __nacre_wrap
        return $code
    }
    typeset -ga precmd_functions preexec_functions zshaddhistory_functions
    precmd_functions+=(__nacre_install)
fi
