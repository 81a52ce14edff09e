"""Shell completion, through argcomplete.

Rule: this module and argcomplete are loaded only while a shell completes, or to print the code
that sets completion up.
"""

from argparse import ArgumentParser, Namespace

SHELLS = ("bash", "zsh", "fish")


def add_completion(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="Shell to set completion up for.")
    parser.epilog = (
        "To turn it on:\n"
        "  bash  echo 'eval \"$(nacre completion bash)\"' >> ~/.bashrc\n"
        "  zsh   echo 'eval \"$(nacre completion zsh)\"' >> ~/.zshrc\n"
        "  fish  nacre completion fish > ~/.config/fish/completions/nacre.fish"
    )
    parser.set_defaults(run=run_completion)


def run_completion(arguments: Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    print(shellcode(["nacre"], shell=arguments.shell))
    return 0


def complete(parser: ArgumentParser) -> None:
    """Answer the shell's question, which comes in environment variables, and exit."""
    import argcomplete

    # Offer flags only after a -: at an empty word people want the names of sessions.
    argcomplete.autocomplete(parser, always_complete_options=False)
