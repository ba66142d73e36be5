"""What to type to get a program that is missing: the command of this machine's own package manager."""

from __future__ import annotations

import os
import shutil

# Package manager -> how it installs; the first that is there is the system's own.
INSTALLERS = (
    ("apt-get", "apt install"),
    ("dnf", "dnf install"),
    ("pacman", "pacman -S"),
    ("zypper", "zypper install"),
    ("apk", "apk add"),
    ("xbps-install", "xbps-install"),
    ("emerge", "emerge"),
    ("brew", "brew install"),
    ("nix-env", "nix-env -iA nixpkgs."),
)
_FOR_ROOT = frozenset({"apt-get", "dnf", "pacman", "zypper", "apk", "xbps-install", "emerge"})


def install(package: str) -> str:
    """`install tmux: sudo apt install tmux`; without the command where no package manager is known."""
    for program, command in INSTALLERS:
        if shutil.which(program):
            sudo = "sudo " if program in _FOR_ROOT and os.geteuid() != 0 else ""
            gap = "" if command.endswith(".") else " "
            return f"install {package}: {sudo}{command}{gap}{package}"
    return f"install {package}"
