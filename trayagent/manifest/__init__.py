"""Manifests: what is known of each agent as data, and the one engine that reads screens by it.

A manifest file passes through here in the order of these modules: load.py reads the
bytes (the only file of this room that does), native.py turns them into the frozen
dataclasses of format.py, patterns.py compiles its expressions for RE2. A look at a
screen is evaluate.py, which asks regions.py for slices of the screen and gates.py
whether they match; prompts.py draws the question out of the screen that won, and
trace.py listens to the same code for `explain`.
"""
