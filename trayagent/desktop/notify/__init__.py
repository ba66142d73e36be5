"""Banners: one interface (`base`), one file a backend, chosen by `choose`."""
