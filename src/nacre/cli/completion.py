"""Shell completion, through argcomplete.

Rule: this module, and argcomplete with it, is loaded only while a shell completes, or to print the
code that makes it do so.
"""

from argparse import ArgumentParser, Namespace

SHELLS = ("bash", "zsh", "fish")


def add_completion(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="The shell that shall complete.")
    parser.epilog = (
        "To switch it on:\n"
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
    """Answer the shell that asks through the environment, and exit."""
    import argcomplete

    # Flags only once a - is typed: at an empty word the sessions' names are what is wanted.
    argcomplete.autocomplete(parser, always_complete_options=False)
