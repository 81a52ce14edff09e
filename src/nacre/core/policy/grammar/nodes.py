"""The kinds of nodes in tree-sitter's trees of bash, by what the walk does with them.

Rule: what is in no table here is a doubt. A new version of the grammar is read with fewer proofs,
never with wrong ones.
"""

# They only hold others.
HOLDERS = frozenset(
    (
        *("program", "list", "pipeline", "command", "command_name", "concatenation", "string"),
        *("command_substitution", "process_substitution", "subshell", "compound_statement"),
        *("redirected_statement", "variable_assignments", "declaration_command"),
        *("unset_command", "for_statement", "c_style_for_statement", "while_statement"),
        *("if_statement", "elif_clause", "else_clause", "case_statement", "case_item"),
        *("do_group", "test_command", "binary_expression", "unary_expression"),
        *("negated_command", "parenthesized_expression", "function_definition"),
        *("arithmetic_expansion", "variable_assignment", "file_redirect", "heredoc_redirect"),
        *("herestring_redirect", "heredoc_body", "expansion", "simple_expansion", "array"),
        *("subscript", "postfix_expression", "ternary_expression", "brace_expression"),
    )
)

# Leaves that the shell expands: none may hold an expansion any more.
EXPANDED = frozenset(
    ("word", "string_content", "heredoc_content", "regex", "extglob_pattern", "number")
)

# Other leaves.
LEAVES = frozenset(
    (
        *("raw_string", "ansi_c_string", "variable_name", "special_variable_name"),
        *("file_descriptor", "test_operator", "heredoc_start", "heredoc_end", "comment"),
    )
)

# What stands later in them may run before what stands earlier.
REPEATING = frozenset(
    ("for_statement", "c_style_for_statement", "while_statement", "function_definition")
)

# A comment may stand in them.
BLOCKS = frozenset(
    (
        *("program", "do_group", "compound_statement", "if_statement", "else_clause"),
        *("elif_clause",),
    )
)

KINDS = HOLDERS | EXPANDED | LEAVES

RESERVED = frozenset(
    (
        *("if", "then", "elif", "else", "fi", "do", "done", "case", "esac", "while", "until"),
        *("for", "in", "function", "select", "coproc", "[[", "]]", "{", "}", "!"),
    )
)
# Builtins that take the name of a variable, with an index that they calculate: a[$(…)].
CALCULATING = frozenset(
    (
        *("read", "printf", "test", "[", "unset", "let", "mapfile", "readarray", "wait"),
        *("getopts",),
    )
)


READING = frozenset(("read", "mapfile", "readarray", "getopts"))
