# Shell integration for fish: sourced by `fish --init-command`, after the user's own configuration.
# Sourced again by a key (marks.ASK_KEY), it repairs what a user's command took away, and answers.

if set -q NACRE_NONCE_FD
    # fish cannot close the pipe, but it is empty then.
    if read -g __nacre_nonce </dev/fd/$NACRE_NONCE_FD 2>/dev/null
        set -gu __nacre_nonce $__nacre_nonce
    end
    set -e NACRE_NONCE_FD
end

# A prompt that nobody has asked for is not loaded yet.
functions -q fish_prompt

if set -q __nacre_nonce
    set -g __nacre_script (status filename)

    # Each function has the nonce from here on: a user may erase or change all variables.
    function __nacre_preexec --inherit-variable __nacre_nonce --on-event fish_preexec
        builtin printf '\e]133;C;n=%s\a' $__nacre_nonce >&2
    end

    function __nacre_postexec --inherit-variable __nacre_nonce --on-event fish_postexec
        set -l code $status
        # fish tells the line that ended. Without one a command emitted the event: nothing has ended.
        set -q argv[1]; or return $code
        if string match -qr '[[:cntrl:]]' -- $PWD
            builtin printf '\e]133;D;n=%s;%s\a' $__nacre_nonce $code >&2
        else
            builtin printf '\e]133;D;n=%s;%s;%s\a' $__nacre_nonce $code $PWD >&2
        end
    end

    function __nacre_posterror --inherit-variable __nacre_nonce --on-event fish_posterror
        # A syntax error runs nothing; 127 is what fish reports for it.
        builtin printf '\e]133;D;n=%s;127\a' $__nacre_nonce >&2
    end

    function __nacre_mode --inherit-variable __nacre_nonce --on-variable fish_bind_mode --on-variable fish_key_bindings
        set -l mode emacs
        test "$fish_key_bindings" = fish_default_key_bindings; or set mode vi
        builtin printf '\e]133;V;n=%s;%s\a' $__nacre_nonce $mode >&2
    end

    function __nacre_set_status
        return $argv[1]
    end

    # Before every prompt: a theme that was loaded meanwhile has a function of its own.
    function __nacre_wrap --inherit-variable __nacre_nonce --on-event fish_prompt
        set -l code $status
        if not functions fish_prompt | string match -q '*__nacre_user_prompt*'
            functions -e __nacre_user_prompt
            if functions -q fish_prompt
                functions -c fish_prompt __nacre_user_prompt
            else
                # Erased by the user: what fish itself shows then.
                function __nacre_user_prompt
                    builtin printf '%s@%s %s> ' "$USER" "$hostname" "$PWD"
                end
            end
            function fish_prompt --inherit-variable __nacre_nonce
                set -l code $status
                builtin printf '\e]133;Q;n=%s;;%s;\a\e]133;A;n=%s\a' $__nacre_nonce $code $__nacre_nonce
                # The user's prompt may show the status: it must find the one it would have found.
                if functions -q __nacre_set_status; and functions -q __nacre_user_prompt
                    __nacre_set_status $code
                    __nacre_user_prompt
                else # erased, with all other functions
                    builtin printf '%s@%s %s> ' "$USER" "$hostname" "$PWD"
                end
                builtin printf '\e]133;B;n=%s\a' $__nacre_nonce
            end
        end
        return $code
    end
    # In `read` the same keys work: that is no prompt.
    function __nacre_ask --inherit-variable __nacre_nonce --inherit-variable __nacre_script
        set -l code $argv[1]
        set -l where other
        test (status current-command) = fish; and set where prompt
        source $__nacre_script
        set -l folder $PWD
        string match -qr '[[:cntrl:]]' -- $PWD; and set folder
        # What stands in the line editor (mark L), within the length of a mark.
        set -l line (commandline | string replace -a '\\' '\\\\' | string join '\\n')
        if test (string length -- "$line") -gt 900; or string match -qr '[[:cntrl:]]' -- "$line"
            set line '\\?'
        end
        builtin printf '\e]133;L;n=%s;%s\a' $__nacre_nonce "$line" >/dev/tty
        builtin printf '\e]133;R;n=%s;%s;%s;%s\a' $__nacre_nonce $code $where "$folder" >/dev/tty
    end

    # Begin the line anew, and take text: by a key of its own, since Escape may take the next along.
    function __nacre_begin_anew
        commandline ''
        set -l mode insert
        test "$fish_key_bindings" = fish_default_key_bindings; and set mode default
        set -g fish_bind_mode $mode
    end

    # The keys outlive `functions -e` of all functions.
    set -l again "functions -q __nacre_ask; or source "(string escape -- $__nacre_script)
    for mode in default insert replace replace_one visual
        bind -M $mode \e\[7337~ "begin; set -l code \$status; $again; __nacre_ask \$code; end"
        bind -M $mode \e\[7338~ "$again; __nacre_begin_anew"
    end
    __nacre_wrap
end
