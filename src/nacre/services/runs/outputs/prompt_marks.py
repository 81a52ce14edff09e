"""What shells print before their prompt, behind an output that ends within a line: no output."""

from nacre.core.shell.dialects import DIALECTS
from nacre.late_pattern import late_pattern

# As zsh prints its mark, unless somebody has chosen another one. Output that ends so may be its
# beginning.
_MARK_BEGINS = late_pattern(rb"(?:\x1b\[[0-9;]*m)+(?:[%#](?:\x1b\[[0-9;]*m)* *\r? ?\r?)?\Z")


_BEFORE_PROMPT = 4096  # bytes: more than a shell prints before its prompt, however wide it is


def without_beginning_mark(output: bytes) -> bytes:
    """Remove what may be the beginning of what a shell prints before its prompt."""
    return _MARK_BEGINS.sub(b"", output)


def without_prompt_mark(output: bytes) -> bytes:
    """Remove what a shell printed before its prompt; it may be a shell behind ssh."""
    # It stands at the end. To look for it in a megabyte of sequences would take 100 ms.
    last = output[-_BEFORE_PROMPT:]
    kept = last
    for dialect in DIALECTS:
        if dialect.before_prompt is not None:
            kept = dialect.before_prompt.sub(b"", kept)
    return output[: len(output) - len(last)] + kept if kept != last else output
