"""How clients reach the daemon: connect, start it, call it. It contains no server code."""
