"""What the server says over HTTP: pages for people, JSON for programs."""
