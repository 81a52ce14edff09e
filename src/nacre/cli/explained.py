"""Whether the arguments of a command are explained: only its help needs that.

Rule: what they mean stands in the operations. To load those takes as long as all else that a
command does before it has its answer, so commands that are called all the time leave them out.
"""

from argparse import ArgumentParser


def is_explained(parser: ArgumentParser) -> bool:
    """Return whether its help is asked for, or its words are not known yet."""
    return getattr(parser, "words", None) is None


def may_have(parser: ArgumentParser, flag: str) -> bool:
    """Return whether a flag may be among the words, so that the parser needs it."""
    words: list[str] | None = getattr(parser, "words", None)
    return words is None or any(word.partition("=")[0] == flag for word in words)
