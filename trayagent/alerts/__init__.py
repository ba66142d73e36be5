"""From transitions to banners: which are told, when, together with which, and why not; no I/O."""
