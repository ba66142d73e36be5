"""The desktop: tray, notifications, sound and windows; one interface each, one file a backend."""
