"""How far a cd reaches: to the end of the line, or of the subshell that it stands in."""

from tree_sitter import Node

from nacre.core.policy.words import Reach

# What runs in a process of its own: a cd in it is over with it.
_APART = frozenset(("subshell", "command_substitution", "process_substitution", "pipeline"))
# What runs perhaps, or several times.
_PERHAPS = frozenset(
    (
        *("if_statement", "elif_clause", "else_clause", "case_item", "case_statement"),
        *("negated_command",),
    )
)
_AGAIN = frozenset(
    ("for_statement", "c_style_for_statement", "while_statement", "function_definition")
)


def reach_of(command: Node) -> Reach:
    at, sure = command, None
    while at.parent is not None:
        above = at.parent
        if at.next_sibling is not None and at.next_sibling.type == "&":
            return Reach(at.end_byte, back=True)
        if above.type in _APART:
            return Reach(above.end_byte, back=True) if sure is None else Reach(sure)
        if above.type in _AGAIN:
            return Reach(at.start_byte, repeats=True)
        if above.type == "list" and not _is_first(at, above):
            sure = above.end_byte if _all_and(above) else min(sure or at.end_byte, at.end_byte)
        elif above.type in _PERHAPS:
            sure = above.end_byte if sure is None else min(sure, above.end_byte)
        elif above.type == "list" and not _all_and(above):
            sure = at.end_byte
        elif above.type == "list" and sure == at.end_byte:
            sure = above.end_byte  # && goes on only if it has run
        at = above
    return Reach(sure)


def _is_first(node: Node, above: Node) -> bool:
    return above.children[0].id == node.id


def _all_and(node: Node) -> bool:
    return all(child.type == "&&" for child in node.children if not child.is_named)
