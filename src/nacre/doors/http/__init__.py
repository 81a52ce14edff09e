"""What doors share: credentials, requests and answers, WebSockets, both ways of a connection."""
