# Shell integration for fish: sourced by `fish --init-command`, after the user's own configuration.

if set -q NACRE_NONCE_FILE; and test -r "$NACRE_NONCE_FILE"
    read -g __nacre_nonce <"$NACRE_NONCE_FILE"
    set -gu __nacre_nonce $__nacre_nonce
    command rm -f -- "$NACRE_NONCE_FILE"
end
set -e NACRE_NONCE_FILE

if set -q __nacre_nonce; and functions -q fish_prompt
    function __nacre_preexec --on-event fish_preexec
        printf '\e]133;C;n=%s\a' $__nacre_nonce
    end

    function __nacre_postexec --on-event fish_postexec
        set -l code $status
        if string match -qr '[[:cntrl:]]' -- $PWD
            printf '\e]133;D;n=%s;%s\a' $__nacre_nonce $code
        else
            printf '\e]133;D;n=%s;%s;%s\a' $__nacre_nonce $code $PWD
        end
    end

    function __nacre_posterror --on-event fish_posterror
        # A syntax error runs nothing; 127 is what fish reports for it.
        printf '\e]133;D;n=%s;127\a' $__nacre_nonce
    end

    functions -c fish_prompt __nacre_user_prompt
    function fish_prompt
        set -l code $status
        printf '\e]133;A;n=%s\a' $__nacre_nonce
        # The user's prompt may show the status: it must find the one it would have found.
        __nacre_set_status $code
        __nacre_user_prompt
        printf '\e]133;B;n=%s\a' $__nacre_nonce
    end

    function __nacre_set_status
        return $argv[1]
    end
end
