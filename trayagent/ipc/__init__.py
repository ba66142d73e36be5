"""The local socket between the daemon and its commands: one schema, one server, one small client."""
