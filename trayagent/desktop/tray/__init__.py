"""The tray icon: `base.Tray` is the interface, one file a backend; icon, tooltip and menu come as data."""
