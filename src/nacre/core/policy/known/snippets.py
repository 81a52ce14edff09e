"""Code in a line that only prints something: python -c, node -e, and their here-documents.

Rule: the code is all that they are given; an option or a further word is no proof.
"""

from collections.abc import Sequence

from nacre.core.policy.words import Word


def python_prints(words: Sequence[Word]) -> bool:
    """Return whether `python -c CODE` computes, reads and prints, and nothing else."""
    code = words[0].text if words else None
    given = [word.text or "-" for word in words[1:]]
    if code is None or any(text[0] in "-/~" or ".." in text.split("/") for text in given):
        return False
    # Loaded here: few lines have code in them.
    from nacre.core.policy.known.python_code import only_prints

    return only_prints(code)


def node_prints(words: Sequence[Word]) -> bool:
    """Return whether `node -e CODE` computes, reads and prints, and nothing else."""
    code = words[0].text if len(words) == 1 else None
    if code is None:
        return False
    from nacre.core.policy.known.node_code import only_prints

    return only_prints(code)
