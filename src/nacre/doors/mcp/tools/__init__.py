"""Tools: which there are, who is offered which, and what their answers look like."""
