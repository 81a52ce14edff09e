"""Fork bombs: functions that start copies of themselves without waiting for them."""

from tree_sitter import Node

from nacre.core.policy.grammar.spelling import text_of


def starts_copies(function: Node, name: str) -> bool:
    """Return whether a function calls itself, and does not wait for it."""
    calls = parts = 0
    stack = [function]
    while stack:
        node = stack.pop()
        if node.type == "command_name" and text_of(node) == name:
            calls += 1
        elif node.type in ("pipeline", "&"):
            parts += 1
        stack.extend(node.children)
    return calls > 0 and parts > 0
