"""What all HTTP doors share: credentials, requests and answers, WebSockets."""
